/** The forms of an app's OAuth clients and protected resources: their settings, each stated once. */
import {
  idProblem,
  saveClient,
  saveClientBody,
  type ClientRecord,
  type SaveClient,
} from "../../operator/save_client.ts";
import {
  findResourceProblem,
  saveResource,
  saveResourceBody,
  type ResourceRecord,
  type SaveResource,
} from "../../operator/save_resource.ts";
import { Choice, FieldProblem } from "../allowance/fields.tsx";
import { Choices, type FormState } from "./form.tsx";
import { textOf } from "./forms.ts";
import { flag, list, text, type RecordField, type RecordForm } from "./record_form.tsx";

const idField = (example: string) => ({
  name: "id",
  label: "Id",
  called: "The id",
  hint: `Such as ${example}. You cannot change it later.`,
  taken: "This id is taken. Change the other one on its own page, or choose another id.",
  problemOf: idProblem,
});

/** Where a client runs decides whether it is public. */
const kind: RecordField = {
  name: "kind",
  label: "Where it runs",
  called: "The choice of where it runs",
  body: (form) => ({ public: textOf(form, "kind") === "public" }),
  values: (record) => ({ kind: (record as ClientRecord).public ? "public" : "confidential" }),
  shown: (form) => textOf(form, "kind"),
  Input: ({ form }) => (
    <Choices
      form={form}
      name="kind"
      legend="Where it runs"
      options={[
        ["confidential", "On a server that can keep a secret (confidential)"],
        ["public", "In a browser, or on a person’s device (public)"],
      ]}
    />
  ),
};

function PkceChoice({ form: { problems, values } }: { form: FormState }) {
  const name = "pkce_optional";
  return (
    <fieldset>
      <legend>Options</legend>
      <FieldProblem id={`${name}-problem`} problem={problems[name]} />
      <Choice type="checkbox" name={name} id={name} value="yes" checked={values[name] === "yes"}>
        PKCE is optional. Only for a server whose library does not support PKCE.
      </Choice>
    </fieldset>
  );
}

export const CLIENT_FORM: RecordForm<SaveClient, ClientRecord> = {
  id: idField("web"),
  fields: [
    text({
      name: "name",
      label: "Name",
      called: "The name",
      hint: "People see it when the client requests a connection.",
    }),
    list({
      name: "redirect_uris",
      label: "Redirect addresses",
      called: "The redirect addresses",
      rows: 3,
      hint: "One per line, such as https://app.example.com/callback. They are compared exactly. http://127.0.0.1/callback allows any port of a program on a person’s own machine.",
    }),
    list({
      name: "post_logout_redirect_uris",
      label: "Addresses after signing out",
      called: "The addresses after signing out",
      rows: 2,
      hint: "One per line. A client that signs a person out here can send them back to one of these. Leave it empty if it has none.",
    }),
    kind,
    flag("pkce_optional", { label: "PKCE is optional", called: "The choice for PKCE" }, PkceChoice),
  ],
  schema: saveClientBody,
  refusals: { limit_reached: "id", client_deleted: "id" },
  find: ({ oauth_records }, key) => oauth_records.findClient(key),
  save: saveClient,
};

function Charges({ form }: { form: FormState }) {
  return (
    <fieldset>
      <legend>Charging</legend>
      <FieldProblem id="charges-problem" problem={form.problems["charges"]} />
      <Choice
        type="checkbox"
        name="charges"
        id="charges"
        value="yes"
        checked={form.values["charges"] === "yes"}
      >
        Its tools cost credits.
        <small>
          People who connect a client to it set a limit, within which this app may charge them.
        </small>
      </Choice>
    </fieldset>
  );
}

export const RESOURCE_FORM: RecordForm<SaveResource, ResourceRecord> = {
  id: idField("mcp"),
  fields: [
    text({
      name: "uri",
      label: "Address",
      called: "The address",
      inputmode: "url",
      spellcheck: false,
      hint: "Such as https://mcp.example.com/mcp. Clients must send exactly this address.",
    }),
    list({
      name: "scopes",
      label: "Scopes",
      called: "The scopes",
      rows: 3,
      hint: "One per line, such as drawings:read. Clients may request these. Leave it empty if there are no scopes.",
    }),
    flag("charges", { label: "Its tools cost credits", called: "The choice to charge" }, Charges),
  ],
  schema: saveResourceBody,
  refusals: { resource_taken: "uri", limit_reached: "id" },
  find: ({ oauth_records }, key) => oauth_records.findResource(key),
  findProblem: (context, _, body) => findResourceProblem(context.get("base_url"), body),
  save: saveResource,
};
