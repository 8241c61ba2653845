/** `GET` and `POST /console/accounts/suspend`: shows the selected accounts, and suspends them for one reason. */
import { SUSPENDED_AT_ONCE_MAX } from "../../domain/limits.ts";
import { accepted } from "../../domain/result.ts";
import {
  suspendMany,
  suspendManyBody,
  type SuspendedItem,
} from "../../http/api/admin/accounts/suspend_many.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { emptyForm, type FormState } from "./form.tsx";
import { check, invalid, readForm, submit, textOf, type FailedForm } from "./forms.ts";
import { nullIfUnreadable } from "./queries.ts";
import { SuspendedPage, SuspendManyPage, type ChosenAccount } from "./suspend_many_page.tsx";
import { consolePath } from "./table.tsx";

const LABELS = { identity_ids: "The selection", reason: "The reason" };

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
  const body = { identity_ids, reason: textOf(form, "reason") };
  const checked = check(suspendManyBody, body, LABELS);
  if (!checked.ok) return showForm(context, invalid(form, checked.refusal));
  let results: readonly SuspendedItem[] = [];
  const failed = await submit(context, form, async () => {
    const suspended = await suspendMany(context, checked.value, form.key);
    if (!suspended.ok) return suspended;
    results = suspended.value;
    return accepted({ value: null, replayed: false });
  });
  if (failed !== null) return showForm(context, failed);
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
  const credits = new Map(found?.map((row) => [row.identity_id, row.credits]));
  return identity_ids.map((identity_id) => ({
    identity_id,
    name: people.get(identity_id)?.name ?? null,
    email: people.get(identity_id)?.email ?? null,
    credits: credits.get(identity_id) ?? null,
  }));
}
