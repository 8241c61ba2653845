/** `GET` and `POST /account/access/edit` (`id`): changes a connection's name, limits and apps. */
import type { ListedAllowance } from "../../account/contract.ts";
import { maySpend } from "../../domain/allowance.ts";
import type { PlainText } from "../language/text.tsx";
import { clientName } from "../../fields.ts";
import { accountOf, callerOf, factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { limitsOfChoices, readChoices } from "../allowance/approval_form.ts";
import { fieldsOfCaps } from "../allowance/cap_choice.tsx";
import type { ApprovalProblems } from "../allowance/choices.tsx";
import { readOffered } from "../allowance/offered.ts";
import { EditPage, type EditChoices } from "./connection_edit_page.tsx";

const LIST = "/account/access";

export const showEdit = factory.createHandlers(async (context) => {
  const read = await findAllowance(context, context.req.query("id") ?? "");
  if (!read.ok) return refuseWithPage(context, read.refusal);
  const allowance = read.value;
  // One that has ended cannot be changed.
  if (allowance === undefined) return context.redirect(LIST, 303);
  const { app_slugs } = allowance.limits;
  const choices: EditChoices = {
    label: allowance.label,
    access: allowance.limits.access,
    reach: app_slugs === null ? "all" : "some",
    apps: app_slugs ?? [],
    other_apps: "",
    caps: fieldsOfCaps(allowance.caps),
    no_limit: allowance.caps.length === 0,
    upstream: false,
    admin: false,
  };
  return showForm(context, allowance, choices, {});
});

export const editConnection = factory.createHandlers(async (context) => {
  const form = await context.req.formData().catch(() => new FormData());
  const [id, typed] = [form.get("id"), form.get("label")];
  const read = await findAllowance(context, typeof id === "string" ? id : "");
  if (!read.ok) return refuseWithPage(context, read.refusal);
  const allowance = read.value;
  if (allowance === undefined) return context.redirect(LIST, 303);
  const { access } = allowance.limits;
  const choices = choicesFor(allowance, {
    ...readChoices(form),
    label: typeof typed === "string" ? typed : "",
  });
  const label = clientName.safeParse(choices.label);
  const found: { label?: PlainText } = label.success
    ? {}
    : { label: "Give the connection a name of up to 80 visible characters." };
  const limits = limitsOfChoices(choices, { apps: [], other_apps: "" }, found);
  if (!limits.ok || !label.success) {
    return showForm(context, allowance, choices, limits.ok ? found : limits.refusal);
  }
  const { caps, app_slugs } = limits.value;
  const changed = await accountOf(context).changeAllowance(callerOf(context), {
    id: allowance.id,
    label: label.data,
    ...(maySpend(allowance.scopes) ? { caps } : {}),
    ...(access === "none" ? {} : { app_slugs }),
    may_widen: true,
  });
  return changed.ok
    ? context.redirect(`${LIST}?notice=connection_changed`, 303)
    : refuseWithPage(context, changed.refusal);
});

/** The form has only the choices that the allowance's access needs. */
function choicesFor(
  { limits: { access }, scopes }: ListedAllowance,
  typed: EditChoices,
): EditChoices {
  const may_spend = maySpend(scopes);
  const fixed = { access: may_spend ? "write" : "read", upstream: false, admin: false };
  const spending = may_spend ? {} : { caps: [] };
  const reaching = access === "none" ? { reach: "all", apps: [], other_apps: "" } : {};
  return { ...typed, ...fixed, ...spending, ...reaching } as EditChoices;
}

async function findAllowance(context: AppContext, id: string) {
  const read = await accountOf(context).listAllowances(callerOf(context));
  return read.ok ? ({ ok: true, value: read.value.find((it) => it.id === id) } as const) : read;
}

async function showForm(
  context: AppContext,
  allowance: ListedAllowance,
  choices: EditChoices,
  problems: ApprovalProblems,
): Promise<Response> {
  const { registered_apps } = await readOffered(context);
  const page = (
    <EditPage
      allowance={allowance}
      choices={choices}
      problems={problems}
      registered_apps={registered_apps}
    />
  );
  return context.html(page, Object.keys(problems).length === 0 ? 200 : 400);
}
