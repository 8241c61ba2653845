/**
 * Forms of records of apps. Each field is stated once, with its label, its hint and how its problems name it: the form is
 * read, checked, saved and shown again from that. The limits are those of the API's own schema.
 */
import type { Child, PropsWithChildren } from "hono/jsx";
import type * as z from "zod/mini";
import type { OnceAnswer } from "../../account/contract.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { refused, type Result } from "../../domain/result.ts";
import type { AppContext } from "../../http/context.ts";
import type { Services } from "../../http/services.ts";
import type { Acting } from "../../operator/acting.ts";
import type { RegistrationKey } from "../../operator/save_client.ts";
import type { FieldProblem, Keyed, SavedRecord, StoredRecord } from "../../operator/save_record.ts";
import { ActionForm, Choices, emptyForm, Field, Reason, type FormState } from "./form.tsx";
import {
  check,
  entriesOf,
  entryProblem,
  invalid,
  optional,
  readForm,
  submit,
  textOf,
  wholeNumberOf,
  type FailedForm,
} from "./forms.ts";
import { FORM_PROBLEMS } from "./labels.ts";
import { Details } from "./panel.tsx";
import { ForRole, mayAct } from "./permission.tsx";

export interface RecordField {
  readonly name: string;
  readonly label: string;
  /** The field in a sentence about its problem, such as “The name”. */
  readonly called: string;
  /** Its part of the body that is saved. */
  readonly body: (form: FormState) => object;
  /** Its texts in the form of a record. */
  readonly values: (record: object) => FormState["values"];
  /** Its text as people read it. */
  readonly shown: (form: FormState) => string;
  readonly Input: (props: { readonly form: FormState }) => Child;
}

interface TextField {
  readonly name: string;
  readonly label: string;
  readonly called: string;
  readonly hint: string;
  readonly rows?: number;
  readonly inputmode?: "numeric" | "url";
  readonly spellcheck?: boolean;
}

function typed(
  { called, ...input }: TextField,
  read: (form: FormState, name: string) => unknown,
): RecordField {
  const { name, label, rows } = input;
  return {
    name,
    label,
    called,
    body: (form) => ({ [name]: read(form, name) }),
    values(record) {
      const value = (Reflect.get(record, name) ?? "") as readonly string[] | string | number;
      const separator = rows === undefined ? " " : "\n";
      return { [name]: typeof value === "object" ? value.join(separator) : String(value) };
    },
    shown: (form) => shownText(form, name),
    Input: ({ form }) => <Field form={form} {...input} />,
  };
}

/** A field's text in one line. */
const shownText = (form: FormState, name: string): string =>
  textOf(form, name).replaceAll("\n", " ");

export const text = (field: TextField): RecordField => typed(field, textOf);

export const textOrNull = (field: TextField): RecordField =>
  typed(field, (form, name) => textOf(form, name) || null);

export const wholeNumber = (field: TextField): RecordField =>
  typed({ ...field, inputmode: "numeric" }, wholeNumberOf);

export const wholeNumberOrNull = (field: TextField): RecordField =>
  typed({ ...field, inputmode: "numeric" }, (form, name) =>
    textOf(form, name) === "" ? null : wholeNumberOf(form, name),
  );

/** Several entries in one field. `read`: the value of an entry. */
export const list = (
  field: TextField,
  read: (entry: string) => unknown = (entry) => entry,
): RecordField =>
  typed({ ...field, spellcheck: false }, (form, name) =>
    entriesOf(form, name).map(({ entry }) => read(entry)),
  );

interface ChoiceField {
  readonly name: string;
  readonly legend: string;
  readonly called: string;
  /** Each option's text on the form, by its value. */
  readonly options: Readonly<Record<string, string>>;
}

export function choice({ called, options, ...input }: ChoiceField): RecordField {
  const { name, legend } = input;
  return {
    name,
    label: legend,
    called,
    body: (form) => ({ [name]: textOf(form, name) }),
    values: (record) => ({ [name]: String(Reflect.get(record, name)) }),
    shown: (form) => options[textOf(form, name)] ?? "",
    Input: ({ form }) => <Choices form={form} {...input} options={Object.entries(options)} />,
  };
}

/** A tick box. `Input`: it, or the group in which it is. */
export const flag = (
  name: string,
  names: Pick<RecordField, "label" | "called">,
  Input: RecordField["Input"],
): RecordField => ({
  name,
  ...names,
  body: (form) => ({ [name]: textOf(form, name) === "yes" }),
  values: (record) => ({ [name]: Reflect.get(record, name) === true ? "yes" : "" }),
  shown: (form) => (textOf(form, name) === "yes" ? "yes" : "no"),
  Input,
});

/** A kind of record of an app, and its form. */
export interface RecordForm<Body extends object, Stored extends StoredRecord> {
  /** The id that a new record gets. */
  readonly id: TextField & {
    /** The id of another record. */
    readonly taken: string;
    /** The end of a sentence about an id that cannot be used; null: it can. */
    readonly problemOf: (id: string) => string | null;
  };
  readonly fields: readonly RecordField[];
  readonly schema: z.ZodMiniType<Body>;
  /** The fields that refusals of a save concern. */
  readonly refusals: Readonly<Partial<Record<Refusal["code"], string>>>;
  readonly find: (services: Services, key: RegistrationKey) => Promise<Stored | null>;
  /** A problem that the schema cannot find. */
  readonly findProblem?: (
    context: AppContext,
    key: RegistrationKey,
    body: Body,
  ) => FieldProblem | null | Promise<FieldProblem | null>;
  readonly save: (
    acting: Acting,
    key: RegistrationKey,
    body: Keyed<Body>,
  ) => Promise<OnceAnswer<SavedRecord<Stored>>>;
}

/** Which of the fields a form shows depends on them only, whatever they save. */
type AnyRecordForm<Stored extends StoredRecord = StoredRecord> = Pick<
  RecordForm<never, Stored>,
  "id" | "fields"
>;

/** The hidden field of a form that changes a record is the version that it shows. The form of a new record has none. */
export const isNew = (form: FormState): boolean => !("version" in form.values);

/** The form of the record that the path names. One without its version is refused; it is not the form of a new record. */
export async function readRecordForm(context: AppContext): Promise<FormState> {
  const form = await readForm(context);
  return { ...form, values: { version: "", ...form.values } };
}

/** The fields of a record, and the reason of the change. */
export function RecordFields({ kind, form }: { kind: AnyRecordForm; form: FormState }) {
  const { taken: _, problemOf: __, called: ___, ...id } = kind.id;
  const hidden = [id.name, "version"].filter((name) => name in form.values);
  return (
    <>
      {isNew(form) ? (
        <Field form={form} {...id} />
      ) : (
        hidden.map((name) => <input type="hidden" name={name} value={form.values[name]} />)
      )}
      {kind.fields.map(({ Input }) => (
        <Input form={form} />
      ))}
      <Reason form={form} hint="Optional. This is kept in the audit log." />
    </>
  );
}

interface ChangeFormProps {
  readonly kind: AnyRecordForm;
  readonly form: FormState;
  readonly action: string;
  readonly button: string;
}

/** The form that changes a record, on a page that all roles see: those who cannot use it read the settings as text. */
export function ChangeForm(props: PropsWithChildren<ChangeFormProps>) {
  const { kind, form, action, button, children } = props;
  if (mayAct("admin")) {
    return (
      <ActionForm action={action} form={form} button={button}>
        {children}
        <RecordFields kind={kind} form={form} />
      </ActionForm>
    );
  }
  return (
    <>
      <Details facts={kind.fields.map(({ label, shown }) => [label, shown(form) || "none"])} />
      <p>
        <ForRole role="admin" action="Changing this" />
      </p>
    </>
  );
}

/** The form of a record as it is. */
export const formOf = (kind: AnyRecordForm, record: StoredRecord, id = {}): FormState =>
  emptyForm({ ...id, ...savedValues(kind, record) });

function savedValues({ fields }: AnyRecordForm, record: StoredRecord): FormState["values"] {
  const values = fields.flatMap((field) => Object.entries(field.values(record)));
  return { ...Object.fromEntries(values), version: String(record.version) };
}

/** Checks a form, and saves its record. */
export async function submitRecord<Body extends object, Stored extends StoredRecord>(
  context: AppContext,
  kind: RecordForm<Body, Stored>,
  key: RegistrationKey,
  form: FormState,
): Promise<Result<SavedRecord<Stored>, FailedForm>> {
  const checked = await checkRecord(context, kind, key, form);
  if (!checked.ok) return refused(invalid(form, checked.refusal));
  const saved = await submit(
    context,
    form,
    (acting) => kind.save(acting, key, { ...checked.value, key: form.key }),
    kind.refusals,
  );
  return saved.ok ? saved : refused(await outdated(context, kind, key, saved.refusal));
}

async function checkRecord<Body extends object, Stored extends StoredRecord>(
  context: AppContext,
  { id, fields, schema, findProblem }: RecordForm<Body, Stored>,
  key: RegistrationKey,
  form: FormState,
): Promise<Result<Body, FormState["problems"]>> {
  const labels = {
    ...Object.fromEntries(fields.map(({ name, called }) => [name, called])),
    reason: "The reason",
  };
  const version = isNew(form) ? {} : { version: wholeNumberOf(form, "version") };
  const body = Object.assign({}, ...fields.map((field) => field.body(form)), version) as object;
  const checked = check(schema, { ...body, ...optional(form, "reason") }, labels, form);
  const found = checked.ok ? await findProblem?.(context, key, checked.value) : null;
  const id_problem = id.problemOf(key.id);
  const problems = {
    ...(id_problem === null ? {} : { [id.name]: `${id.called} ${id_problem}.` }),
    ...(checked.ok ? {} : checked.refusal),
    ...(found ? problemOf(form, labels, found) : {}),
  };
  return checked.ok && Object.keys(problems).length === 0 ? checked : refused(problems);
}

function problemOf(
  form: FormState,
  labels: Readonly<Record<string, string>>,
  { path: [name, index], message }: FieldProblem,
): FormState["problems"] {
  return {
    [name]:
      index === undefined
        ? `${labels[name]} ${message}.`
        : entryProblem(form, name, { index, message }),
  };
}

const CHANGED_CODES: readonly (Refusal["code"] | undefined)[] = [
  "app_changed",
  "client_changed",
  "resource_changed",
  "webhook_changed",
  "plan_changed",
];

/**
 * If someone else created or saved the record first: says that the id is taken, or adds to each field that differs the
 * value that they saved. The form then has the saved version, so that sending it again overwrites that version on purpose.
 */
async function outdated<Body extends object, Stored extends StoredRecord>(
  context: AppContext,
  kind: RecordForm<Body, Stored>,
  key: RegistrationKey,
  failed: FailedForm,
): Promise<FailedForm> {
  if (!CHANGED_CODES.includes(failed.code)) return failed;
  const { form } = failed;
  if (isNew(form)) {
    return { ...failed, form: { ...form, problems: { [kind.id.name]: kind.id.taken } } };
  }
  const record = await kind.find(context.get("services"), key);
  if (record === null) return failed;
  const values = savedValues(kind, record);
  const saved_form = { ...form, values };
  const problems = kind.fields
    .map(({ name, shown }) => [name, shown(saved_form), shown(form)] as const)
    .filter(([, theirs, ours]) => theirs !== ours)
    .map(([name, theirs]) => [name, `The saved value is: ${theirs === "" ? "empty" : theirs}.`]);
  return {
    ...failed,
    form: {
      ...form,
      values: { ...form.values, version: String(record.version) },
      problems: { "": FORM_PROBLEMS.changed, ...Object.fromEntries(problems) },
    },
  };
}
