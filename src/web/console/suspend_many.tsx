/** `GET` and `POST /console/accounts/suspend`: shows the selected accounts, and suspends them for one reason. */
import { SUSPENDED_AT_ONCE_MAX } from "../../domain/limits.ts";
import { accepted } from "../../domain/result.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { refusalForError } from "../../http/failures.ts";
import { describeRefusal } from "../../http/refusals.ts";
import { suspendMany, suspendManyBody, type SuspendedItem } from "../../operator/suspend_many.ts";
import { number } from "../layout/labels.ts";
import { emptyForm, type FormState, ActionForm, FormPage, PublicReason, Reason } from "./form.tsx";
import { check, invalid, optional, readForm, submit, textOf, type FailedForm } from "./forms.ts";
import { ACCOUNT_ACTIONS } from "./labels.ts";
import { nullIfUnreadable } from "./queries.ts";
import { consolePath, accountPath, Table } from "./table.tsx";
import type { PropsWithChildren } from "hono/jsx";

const LABELS = {
  identity_ids: "The selection",
  reason: "The reason",
  public_reason: "The text for the holder",
};

export const showSuspendMany = factory.createHandlers(async (context) => {
  const identity_ids = [...new Set(context.req.queries("id"))];
  const back = context.req.query("back") ?? "";
  const problem = selectionProblem(identity_ids.length);
  if (problem !== null) return context.redirect(listPath(back, problem), 303);
  const form = emptyForm({ identity_ids: identity_ids.join(" "), back });
  return showForm(context, { form, status: 200 });
});

/** Shows the result for each account. The form may be sent again: what was done is not done again. */
export const doSuspendMany = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  const identity_ids = identitiesOf(form);
  const problem = selectionProblem(identity_ids.length);
  if (problem !== null) return context.redirect(listPath(textOf(form, "back"), problem), 303);
  const texts = { reason: textOf(form, "reason"), ...optional(form, "public_reason") };
  const body = { identity_ids, ...texts };
  const checked = check(suspendManyBody, body, LABELS);
  if (!checked.ok) return showForm(context, invalid(form, checked.refusal));
  const request = { ...checked.value, key: form.key };
  const done = await submit(context, form, async (acting) => {
    const suspended = await suspendMany(acting, request, (error) =>
      refusalForError(error, context),
    );
    return suspended.ok ? accepted({ value: suspended.value, replayed: false }) : suspended;
  });
  if (!done.ok) return showForm(context, done.refusal);
  const results = done.value;
  const accounts = await readChosen(context, identity_ids);
  return context.html(<SuspendedPage {...{ accounts, results, form, back: backOf(form) }} />);
});

/** The name of the problem in the address of the list; null: the selection can be suspended. */
function selectionProblem(selected: number): "none" | "many" | null {
  if (selected === 0) return "none";
  return selected > SUSPENDED_AT_ONCE_MAX ? "many" : null;
}

const identitiesOf = (form: FormState): readonly string[] =>
  textOf(form, "identity_ids").split(/\s+/).filter(Boolean);

const backOf = (form: FormState): string => listPath(textOf(form, "back"));

/** The list with the filters that it had, as its form sends them. */
function listPath(back: string, selection: string | null = null): string {
  const filters = Object.fromEntries(new URLSearchParams(back));
  return consolePath("/console/accounts", { ...filters, selection });
}

async function showForm(context: AppContext, { form, status }: FailedForm): Promise<Response> {
  const accounts = await readChosen(context, identitiesOf(form));
  return context.html(<SuspendManyPage {...{ accounts, form, back: backOf(form) }} />, status);
}

/** The accounts with their names, in the order of the list. Credits come from the read model. */
async function readChosen(
  context: AppContext,
  identity_ids: readonly string[],
): Promise<readonly ChosenAccount[]> {
  const { identity, read_model } = context.get("services");
  const limit = identity_ids.length;
  const search = { only: { id: "", identity_ids }, sort: "created", order: "desc", limit } as const;
  const [people, found] = await Promise.all([
    identity.readPeople(identity_ids),
    nullIfUnreadable(read_model.findAccounts(search)),
  ]);
  const credits = new Map(found?.accounts.map((row) => [row.identity_id, row.credits]));
  return identity_ids.map((identity_id) => ({
    identity_id,
    name: people.get(identity_id)?.name ?? null,
    email: people.get(identity_id)?.email ?? null,
    credits: credits.get(identity_id) ?? null,
  }));
}

interface ChosenAccount {
  readonly identity_id: string;
  readonly name: string | null;
  readonly email: string | null;
  /** Null if the read model does not have the account, or cannot be read. */
  readonly credits: number | null;
}

interface PageProps {
  readonly accounts: readonly ChosenAccount[];
  readonly form: FormState;
  /** The path of the list that the accounts were selected in. */
  readonly back: string;
}

const accountsText = (count: number): string =>
  count === 1 ? "1 account" : `${number(count)} accounts`;

function SuspendManyPage({ accounts, form, back }: PageProps) {
  const title = `Suspend ${accountsText(accounts.length)}`;
  return (
    <FormPage title={title} section="accounts" about={{ href: back, name: "Accounts" }} form={form}>
      <p>
        The holders can only sign out and download their data. Apps’ servers can still finish their
        jobs; the other running jobs expire. Automatic top-up is switched off, and stays off. You
        can restore each account.
      </p>
      <Table
        label="Selected accounts"
        columns={["Person", { amount: "Credits" }]}
        rows={accounts.map((account) => [
          <Person {...account} />,
          account.credits === null ? "–" : number(account.credits),
        ])}
        empty=""
      />
      <SuspendForm form={form} back={back} button={title}>
        <Reason form={form} hint={ACCOUNT_ACTIONS.suspend.reason_hint} />
        <PublicReason form={form} />
      </SuspendForm>
    </FormPage>
  );
}

function SuspendedPage(props: PageProps & { readonly results: readonly SuspendedItem[] }) {
  const { accounts, results, form, back } = props;
  const failed = results.filter(({ refusal }) => refusal !== null).length;
  const done = results.length - failed;
  const title =
    failed === 0
      ? `${accountsText(done)} suspended`
      : `${number(done)} of ${accountsText(results.length)} suspended`;
  return (
    <FormPage title={title} section="accounts" about={{ href: back, name: "Accounts" }} form={form}>
      <Table
        label="Results"
        columns={["Person", "Result"]}
        rows={accounts.map((account, at) => [
          <Person {...account} />,
          <Outcome refusal={results[at]?.refusal ?? null} />,
        ])}
        empty=""
      />
      {failed === 0 ? (
        <p>
          <a href={back}>Back to the accounts</a>
        </p>
      ) : (
        <SuspendForm form={form} back={back} button="Try these again">
          {["reason", "public_reason"].map((name) => (
            <input type="hidden" name={name} value={form.values[name] ?? ""} />
          ))}
        </SuspendForm>
      )}
    </FormPage>
  );
}

function SuspendForm(
  props: PropsWithChildren<{
    readonly form: FormState;
    readonly back: string;
    readonly button: string;
  }>,
) {
  const { form, back, button, children } = props;
  return (
    <ActionForm action="/console/accounts/suspend" danger {...{ form, button, back }}>
      {["identity_ids", "back"].map((name) => (
        <input type="hidden" name={name} value={form.values[name] ?? ""} />
      ))}
      {children}
    </ActionForm>
  );
}

function Person({ identity_id, name, email }: ChosenAccount) {
  return (
    <>
      <a href={accountPath(identity_id)}>{email ?? name ?? identity_id}</a>
      {email === null || name === null ? null : <span class="hint below">{name}</span>}
    </>
  );
}

function Outcome({ refusal }: Pick<SuspendedItem, "refusal">) {
  if (refusal === null) return <>Suspended</>;
  return (
    <>
      <span class="tag is-bad">not suspended</span>
      <span class="hint below">{describeRefusal(refusal).error}</span>
    </>
  );
}
