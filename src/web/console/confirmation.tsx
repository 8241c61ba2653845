/** Pages that ask before an action on a record of an app: the page, and the handlers that show and run it. */
import type { Child, PropsWithChildren } from "hono/jsx";
import type { OnceAnswer } from "../../account/contract.ts";
import type { Refusal } from "../../domain/refusals.ts";
import type { Result } from "../../domain/result.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import type { Acting } from "../../operator/acting.ts";
import { reasonQuery, type ActionRequest } from "../../operator/audited_action.ts";
import { ActionForm, emptyForm, FormPage, Reason, type FormState } from "./form.tsx";
import { check, invalid, optional, readForm, submit, type FailedForm } from "./forms.ts";

interface Confirmed<Subject, Value> {
  /** The query parameter that names the record, if the path does not; the form has it as a hidden field. */
  readonly named_by?: string;
  readonly read: (context: AppContext, form: FormState) => Promise<Result<Subject, Refusal>>;
  readonly page: (subject: Subject, form: FormState) => Child;
  readonly perform: (
    acting: Acting,
    context: AppContext,
    form: FormState,
    request: ActionRequest,
  ) => Promise<OnceAnswer<Value>>;
  readonly done: (context: AppContext, value: Value) => Response | Promise<Response>;
}

export function confirmed<Subject, Value>(kind: Confirmed<Subject, Value>) {
  const show = async (context: AppContext, { form, status }: FailedForm): Promise<Response> => {
    const read = await kind.read(context, form);
    if (!read.ok) return refuseWithPage(context, read.refusal);
    return context.html(<>{kind.page(read.value, form)}</>, status);
  };
  return {
    show: factory.createHandlers((context) => {
      const name = kind.named_by;
      const values = name === undefined ? {} : { [name]: context.req.query(name) ?? "" };
      return show(context, { form: emptyForm(values), status: 200 });
    }),
    run: factory.createHandlers(async (context) => {
      const form = await readForm(context);
      const checked = check(reasonQuery, optional(form, "reason"), { reason: "The reason" });
      if (!checked.ok) return show(context, invalid(form, checked.refusal));
      const request = { ...checked.value, key: form.key };
      const done = await submit(context, form, (acting) =>
        kind.perform(acting, context, form, request),
      );
      return done.ok ? kind.done(context, done.value) : show(context, done.refusal);
    }),
  };
}

interface ConfirmationProps {
  readonly title: string;
  readonly about: { readonly href: string; readonly name: string };
  readonly action: string;
  readonly button: string;
  /** Where the link to cancel leads. */
  readonly back: string;
  readonly form: FormState;
  /** The hidden field that names the record. */
  readonly named_by?: string;
  /** Further fields. */
  readonly fields?: Child;
  readonly without_reason?: boolean;
  /** Left out: apps. */
  readonly section?: "apps" | "plans";
}

/** The page: its children say what the action does. */
export function ConfirmationPage(props: PropsWithChildren<ConfirmationProps>) {
  const { title, about, form, named_by, section = "apps", fields = null, children } = props;
  const { action, button, back, without_reason = false } = props;
  return (
    <FormPage {...{ section, title, about, form }}>
      {children}
      <ActionForm danger {...{ action, form, button, back }}>
        {named_by === undefined ? null : (
          <input type="hidden" name={named_by} value={form.values[named_by] ?? ""} />
        )}
        {fields}
        {without_reason ? null : (
          <Reason form={form} hint="Optional. This is kept in the audit log." />
        )}
      </ActionForm>
    </FormPage>
  );
}
