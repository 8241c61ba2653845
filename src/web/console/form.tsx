/** Forms of the console: what was typed stays, and what is wrong stands beside its field. */
import type { Child, PropsWithChildren } from "hono/jsx";
import { Page } from "../layout/layout.tsx";
import { Choice, describedBy, FieldProblem } from "../device/choices.tsx";

/** A form as it was sent, or as it begins. */
export interface FormState {
  /** Fields by name, as they were typed. */
  readonly values: Readonly<Record<string, string>>;
  /** What is wrong, by field; "": with none of them. */
  readonly problems: Readonly<Record<string, string>>;
  /** The act's idempotency key: sent twice, it happens once. */
  readonly key: string;
}

/** A form about to be filled in. */
export function emptyForm(values: FormState["values"] = {}): FormState {
  return { values, problems: {}, key: crypto.randomUUID() };
}

interface ActFormProps {
  readonly action: string;
  readonly form: FormState;
  readonly button: string;
  /** Whether it takes something from somebody. */
  readonly danger?: boolean;
  /** The way out. */
  readonly back?: string;
}

export function ActForm(props: PropsWithChildren<ActFormProps>) {
  const { action, form, button, danger = false, back, children } = props;
  return (
    <form method="post" action={action} class="act">
      <Problems problems={form.problems} />
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

/** All errors at once, each a way to its field. */
function Problems({ problems }: Pick<FormState, "problems">) {
  const wrong = Object.entries(problems);
  if (wrong.length === 0) return null;
  return (
    <div class="problem" role="alert">
      <p>
        <strong>Nothing was done yet.</strong> What you typed is kept.
      </p>
      <ul>
        {wrong.map(([name, problem]) => (
          <li>{name === "" ? problem : <a href={`#${name}`}>{problem}</a>}</li>
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
  /** How many lines there are to type in; without, it is one. */
  readonly rows?: number;
  readonly [attribute: string]: unknown;
}

/** A field to type in. */
export function Field({ form, name, label, hint, rows, ...attributes }: FieldProps) {
  const problem = form.problems[name];
  const [problem_id, hint_id] = [`${name}-problem`, `${name}-hint`];
  const common = {
    id: name,
    name,
    autocomplete: "off",
    ...describedBy(problem_id, problem, hint === undefined ? undefined : hint_id),
    ...attributes,
  };
  const value = form.values[name] ?? "";
  return (
    <>
      <label for={name}>{label}</label>
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

/** Why: it goes into the audit log. */
export function Reason({ form, hint }: { form: FormState; hint: string }) {
  return <Field form={form} name="reason" label="Reason" hint={hint} rows={2} />;
}

interface ChoicesProps {
  readonly form: FormState;
  readonly name: string;
  readonly legend: string;
  readonly options: readonly (readonly [value: string, text: string])[];
}

/** One of some. The first is where the errors' links lead. */
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
  readonly section: "accounts" | "apps";
  /** What it is about: the way back there. */
  readonly about?: { readonly href: string; readonly name: string };
  readonly form: FormState;
}

/** A page for one form. */
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

/** A page's title, which says first where something is wrong. */
export function titleOf(title: string, ...forms: readonly FormState[]): string {
  const wrong = forms.some(({ problems }) => Object.keys(problems).length > 0);
  return wrong ? `Error: ${title}` : title;
}
