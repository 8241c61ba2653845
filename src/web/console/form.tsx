/** Forms of the console. A form that failed is shown again with its values and, at each field, its problem. */
import type { Child, PropsWithChildren } from "hono/jsx";
import { FIRST_TO_READ, Page } from "../layout/layout.tsx";
import { Choice, describedBy, FieldProblem } from "../allowance/fields.tsx";

export interface FormState {
  /** The fields by name, as they were typed. */
  readonly values: Readonly<Record<string, string>>;
  /** The problems by field; "" for problems that concern no single field. */
  readonly problems: Readonly<Record<string, string>>;
  /** The idempotency key: a form that is sent twice runs once. */
  readonly key: string;
  /** Ids of fields that other forms of the page have too; a field without one has its name as its id. */
  readonly ids?: Readonly<Record<string, string>>;
}

export function emptyForm(values: FormState["values"] = {}): FormState {
  return { values, problems: {}, key: crypto.randomUUID() };
}

interface ActionFormProps {
  readonly action: string;
  readonly form: FormState;
  readonly button: string;
  /** Shows a red button. */
  readonly danger?: boolean;
  /** The path of the cancel link. */
  readonly back?: string;
}

export function ActionForm(props: PropsWithChildren<ActionFormProps>) {
  const { action, form, button, danger = false, back, children } = props;
  return (
    <form
      method="post"
      action={action}
      class="act"
      data-discards={`What you typed for “${button}” is not saved, and will be lost.`}
    >
      <Problems {...form} />
      <input type="hidden" name="key" value={form.key} />
      {children}
      <div class="acts">
        <button type="submit" class={danger ? "danger" : undefined}>
          {button}
        </button>
        {back === undefined ? null : (
          <a class="button quiet" href={back}>
            Cancel
          </a>
        )}
      </div>
    </form>
  );
}

/** All problems, each with a link to its field. */
function Problems({ problems, ids = {} }: FormState) {
  const listed = Object.entries(problems);
  if (listed.length === 0) return null;
  return (
    <div class="problem" role="alert" {...FIRST_TO_READ}>
      <p>
        <strong>Nothing was changed yet.</strong> Your input is kept.
      </p>
      <ul>
        {listed.map(([name, problem]) => (
          <li>{name === "" ? problem : <a href={`#${ids[name] ?? name}`}>{problem}</a>}</li>
        ))}
      </ul>
    </div>
  );
}

interface FieldProps {
  readonly form: FormState;
  readonly name: string;
  readonly label: string;
  readonly hint?: Child;
  /** The height of a multi-line field in lines; a single-line field without it. */
  readonly rows?: number;
  readonly [attribute: string]: unknown;
}

/** A text field with its label, problem and hint. */
export function Field({ form, name, label, hint, rows, ...attributes }: FieldProps) {
  const problem = form.problems[name];
  const id = form.ids?.[name] ?? name;
  const [problem_id, hint_id] = [`${id}-problem`, `${id}-hint`];
  const common = {
    id,
    name,
    autocomplete: "off",
    ...describedBy(problem_id, problem, hint === undefined ? undefined : hint_id),
    ...attributes,
  };
  const value = form.values[name] ?? "";
  return (
    <>
      <label for={id}>{label}</label>
      <FieldProblem id={problem_id} problem={problem} />
      {rows === undefined ? (
        <input type="text" value={value} {...common} />
      ) : (
        <textarea rows={rows} {...common}>
          {value}
        </textarea>
      )}
      {hint === undefined ? null : (
        <p class="hint" id={hint_id}>
          {hint}
        </p>
      )}
    </>
  );
}

/** The reason, which the audit log keeps. In one of several forms of a page it has one line. */
export function Reason({ form, hint }: { form: FormState; hint: string }) {
  const rows = form.ids === undefined ? { rows: 2 } : {};
  return <Field form={form} name="reason" label="Reason" hint={hint} {...rows} />;
}

/** Why accounts are suspended, as their holders read it. */
export function PublicReason({ form }: { form: FormState }) {
  return (
    <Field
      form={form}
      name="public_reason"
      label="Text for the holder"
      rows={2}
      hint="Optional. The holder reads it when they try to sign in, and in the data that they download."
    />
  );
}

interface ChoicesProps {
  readonly form: FormState;
  readonly name: string;
  readonly legend: string;
  readonly options: readonly (readonly [value: string, text: string])[];
}

/** A group of radio buttons. The first has the group's name as its id, so that a problem can link to it. */
export function Choices({ form, name, legend, options }: ChoicesProps) {
  const problem = form.problems[name];
  return (
    <fieldset {...(problem === undefined ? {} : { "aria-describedby": `${name}-problem` })}>
      <legend>{legend}</legend>
      <FieldProblem id={`${name}-problem`} problem={problem} />
      {options.map(([value, text], at) => (
        <Choice
          type="radio"
          id={at === 0 ? name : undefined}
          name={name}
          value={value}
          checked={form.values[name] === value}
        >
          {text}
        </Choice>
      ))}
    </fieldset>
  );
}

interface FormPageProps {
  readonly title: string;
  readonly section: "accounts" | "apps" | "plans";
  /** The account or app that the form is about, as a link. */
  readonly about?: { readonly href: string; readonly name: string };
  readonly form: FormState;
}

/** A page with one form. */
export function FormPage(props: PropsWithChildren<FormPageProps>) {
  const { title, section, about, form, children } = props;
  return (
    <Page title={titleOf(title, form)} section={section} scripts={["forms.js"]}>
      <section class="panel act-panel" aria-labelledby="act">
        {about === undefined ? null : (
          <p class="hint">
            <a href={about.href}>{about.name}</a>
          </p>
        )}
        <h1 id="act">{title}</h1>
        {children}
      </section>
    </Page>
  );
}

/** A page's title, which starts with "Error" if a form has problems, for people who use screen readers. */
export function titleOf(title: string, ...forms: readonly FormState[]): string {
  const has_problems = forms.some(({ problems }) => Object.keys(problems).length > 0);
  return has_problems ? `Error: ${title}` : title;
}
