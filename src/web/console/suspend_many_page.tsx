/** The pages of suspending many accounts: the confirmation, and the result for each account. */
import type { PropsWithChildren } from "hono/jsx";
import { describeRefusal } from "../../http/refusals.ts";
import type { SuspendedItem } from "../../http/api/admin/accounts/suspend_many.ts";
import { number } from "../layout/labels.ts";
import { ActionForm, FormPage, Reason, type FormState } from "./form.tsx";
import { ACCOUNT_ACTIONS } from "./labels.ts";
import { accountPath, Table } from "./table.tsx";

export interface ChosenAccount {
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

export function SuspendManyPage({ accounts, form, back }: PageProps) {
  const title = `Suspend ${accountsText(accounts.length)}`;
  return (
    <FormPage title={title} section="accounts" about={{ href: back, name: "Accounts" }} form={form}>
      <p>
        The holders can only sign out. Nothing is lost: running jobs can still finish, and you can
        restore each account.
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
      </SuspendForm>
    </FormPage>
  );
}

export function SuspendedPage(props: PageProps & { readonly results: readonly SuspendedItem[] }) {
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
          <input type="hidden" name="reason" value={form.values["reason"] ?? ""} />
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
