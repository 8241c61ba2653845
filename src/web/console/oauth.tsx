/** `/console/apps/{slug}/oauth` and its forms: the OAuth clients and protected resources of an app. */
import { registeredClientId } from "../../domain/oauth_client.ts";
import { accepted, refused } from "../../domain/result.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { replaceSecret } from "../../operator/client_secret.ts";
import { deleteClient, deleteResource } from "../../operator/delete_record.ts";
import type { ClientRecord } from "../../operator/save_client.ts";
import type { SavedRecord, StoredRecord } from "../../operator/save_record.ts";
import { Choice } from "../allowance/fields.tsx";
import { FIRST_TO_READ } from "../layout/layout.tsx";
import { timeText } from "../layout/time.tsx";
import type { AppRecord } from "./apps.tsx";
import { confirmed, ConfirmationPage } from "./confirmation.tsx";
import { ConsolePage } from "./console_page.tsx";
import { emptyForm, type FormState, ActionForm, FormPage } from "./form.tsx";
import { readForm, textOf, type FailedForm } from "./forms.ts";
import { MadeSecret } from "./made_secret.tsx";
import { CLIENT_FORM, RESOURCE_FORM } from "./oauth_form.tsx";
import { Panel, RowLink } from "./panel.tsx";
import { ForRole, mayAct } from "./permission.tsx";
import { formOf, submitRecord, type RecordForm, isNew, RecordFields } from "./record_form.tsx";
import { slugOf } from "./queries.ts";
import { appPath, consolePath } from "./table.tsx";

const findApp = (context: AppContext) => context.get("services").app_records.find(slugOf(context));

/** The record that a form names. */
const keyOf = (context: AppContext, form: FormState) => ({
  app_slug: slugOf(context),
  id: textOf(form, "id"),
});

export const showOAuth = factory.createHandlers((context) => showLists(context, null));

async function showLists(
  context: AppContext,
  saved: SavedRecord<ClientRecord> | null,
): Promise<Response> {
  const { oauth_records } = context.get("services");
  const slug = slugOf(context);
  const [app, clients, resources] = await Promise.all([
    findApp(context),
    oauth_records.listClients(slug),
    oauth_records.listResources(slug),
  ]);
  if (app === null || !clients.ok || !resources.ok) {
    return refuseWithPage(context, { code: "app_not_found" });
  }
  return context.html(
    <ConsolePage
      title={`OAuth: ${app.name}`}
      heading="OAuth"
      section="apps"
      scripts={["copy.js"]}
      aside={<a href={appPath(app.slug)}>{app.name}</a>}
    >
      <div class="columns">
        <Panel id="clients" title="Clients">
          {saved === null ? null : <Saved {...saved} />}
          <p class="hint">
            A client asks people for a connection to their account, or signs them in to the app.
          </p>
          <Rows
            app={app}
            kind="client"
            rows={clients.value.map(clientRow)}
            empty="This app has no client."
          />
        </Panel>
        <Panel id="resources" title="Resources">
          <p class="hint">
            A resource is an API or MCP server of the app that accepts this service’s tokens.
          </p>
          <Rows
            app={app}
            kind="resource"
            rows={resources.value.map(({ id, uri, scopes, charges }) => ({
              id,
              name: uri,
              hint: `${scopes.length === 0 ? "no scopes" : scopes.join(" ")}${charges ? ", charges people" : ""}`,
            }))}
            empty="This app has no resource."
          />
        </Panel>
      </div>
    </ConsolePage>,
  );
}

/** The pages of the form of a new client or resource, or of the one that the query names. */
function registration<Body extends object, Stored extends StoredRecord>(
  kind: RegistrationKind,
  record_form: RecordForm<Body, Stored>,
  done: (context: AppContext, saved: SavedRecord<Stored>) => Response | Promise<Response>,
) {
  const show = async (context: AppContext, { form, status }: FailedForm): Promise<Response> => {
    const app = await findApp(context);
    if (app === null) return refuseWithPage(context, { code: "app_not_found" });
    return context.html(<RegistrationPage {...{ app, kind, record_form, form }} />, status);
  };
  return {
    show: factory.createHandlers(async (context) => {
      const id = context.req.query("id") ?? "";
      if (id === "")
        return show(context, { form: emptyForm({ kind: "confidential" }), status: 200 });
      const key = { app_slug: slugOf(context), id };
      const record = await record_form.find(context.get("services"), key);
      if (record === null) return refuseWithPage(context, { code: `${kind}_not_found` });
      return show(context, { form: formOf(record_form, record, { id }), status: 200 });
    }),
    save: factory.createHandlers(async (context) => {
      const form = await readForm(context);
      const saved = await submitRecord(context, record_form, keyOf(context, form), form);
      return saved.ok ? done(context, saved.value) : show(context, saved.refusal);
    }),
  };
}

const backToLists = (context: AppContext, notice: string): Response =>
  context.redirect(consolePath(oauthPath(slugOf(context)), { notice }), 303);

// The secret of a client is in the response only. A redirect would need it in an address.
export const client = registration("client", CLIENT_FORM, showLists);

export const resource = registration("resource", RESOURCE_FORM, (context) =>
  backToLists(context, "resource-saved"),
);

/** The app and the client or resource that a form names. */
async function readRegistration<Stored>(
  context: AppContext,
  kind: RegistrationKind,
  reading: Promise<Stored | null>,
) {
  const [app, record] = await Promise.all([findApp(context), reading]);
  if (app === null) return refused({ code: "app_not_found" } as const);
  return record === null
    ? refused({ code: `${kind}_not_found` } as const)
    : accepted({ app, record });
}

export const client_secret = confirmed({
  named_by: "id",
  read: (context, form) =>
    readRegistration(
      context,
      "client",
      CLIENT_FORM.find(context.get("services"), keyOf(context, form)),
    ),
  page: ({ app, record }, form) => <ReplaceSecretPage {...{ app, form }} client={record} />,
  perform(acting, context, form, request) {
    const keeps_old = textOf(form, "now") !== "yes";
    return replaceSecret(acting, keyOf(context, form), { ...request, keeps_old });
  },
  done: showLists,
});

const deletion = <Body extends object, Stored extends StoredRecord>(
  kind: RegistrationKind,
  { find }: RecordForm<Body, Stored>,
  nameOf: (record: Stored) => string,
  remove: typeof deleteClient,
) =>
  confirmed({
    named_by: "id",
    read: (context, form) =>
      readRegistration(context, kind, find(context.get("services"), keyOf(context, form))),
    page: ({ app, record }, form) => <DeletePage {...{ app, kind, form }} name={nameOf(record)} />,
    perform: (acting, context, form, request) => remove(acting, keyOf(context, form), request),
    done: (context) => backToLists(context, `${kind}-deleted`),
  });

export const client_deletion = deletion("client", CLIENT_FORM, ({ name }) => name, deleteClient);
export const resource_deletion = deletion(
  "resource",
  RESOURCE_FORM,
  ({ uri }) => uri,
  deleteResource,
);

type App = Pick<AppRecord, "slug" | "name">;
type RegistrationKind = "client" | "resource";

const oauthPath = (slug: string): string => appPath(slug, "/oauth");

interface Row {
  readonly id: string;
  /** Whether it has a secret. */
  readonly has_secret?: boolean;
  readonly name: string;
  readonly code?: string;
  readonly hint: string;
  /** Further lines. */
  readonly lines?: readonly string[];
}

function clientRow({ app_slug, id, name, last_used_at_ms, ...client }: ClientRecord): Row {
  const kind = client.public ? "public" : "confidential";
  const pkce = client.pkce_optional ? ", PKCE optional" : "";
  const used =
    last_used_at_ms === null ? "never used" : `last used ${timeText(last_used_at_ms, "day")} (UTC)`;
  const code = registeredClientId(app_slug, id);
  const hint = `${kind}${pkce} · ${used}`;
  return { id, name, code, hint, has_secret: !client.public, lines: client.redirect_uris };
}

interface RowsProps {
  readonly app: App;
  readonly kind: RegistrationKind;
  readonly rows: readonly Row[];
  readonly empty: string;
}

function Rows({ app, kind, rows, empty }: RowsProps) {
  const may_change = mayAct("admin");
  return (
    <>
      {rows.length === 0 ? <p>{empty}</p> : null}
      <ul class="rows">
        {rows.map(({ id, name, code, hint, has_secret = false, lines = [] }) => (
          <li>
            <span>
              {may_change ? (
                <a href={consolePath(appPath(app.slug, `/${kind}`), { id })}>{name}</a>
              ) : (
                <strong>{name}</strong>
              )}
              <span class="hint below">
                {code === undefined ? null : (
                  <>
                    <code>{code}</code>
                    {" · "}
                  </>
                )}
                {hint}
              </span>
              {lines.map((line) => (
                <span class="hint below">{line}</span>
              ))}
            </span>
            {may_change && has_secret ? (
              <RowLink
                href={consolePath(appPath(app.slug, "/client-secret"), { id })}
                text="Replace secret"
                about={`of ${name}`}
              />
            ) : null}
            {may_change ? (
              <RowLink
                href={consolePath(appPath(app.slug, `/delete-${kind}`), { id })}
                text="Delete"
                about={name}
              />
            ) : null}
          </li>
        ))}
      </ul>
      <ForRole role="admin" action={`Registering a ${kind}`}>
        <a class="button small" href={appPath(app.slug, `/${kind}`)}>
          Register a {kind}
        </a>
      </ForRole>
    </>
  );
}

function Saved({ record: client, secret }: SavedRecord<ClientRecord>) {
  const client_id = registeredClientId(client.app_slug, client.id);
  return (
    <div class="made" role="status" {...FIRST_TO_READ}>
      <p>
        “{client.name}” was saved. Its client_id is <code>{client_id}</code>. The change takes
        effect within a minute.
      </p>
      {secret === null ? null : (
        <MadeSecret name="its client_secret" secret={secret} otherwise="" />
      )}
    </div>
  );
}

interface FormProps {
  readonly app: App;
  readonly form: FormState;
}

const oauthLink = ({ slug, name }: App) => ({ href: oauthPath(slug), name: `OAuth: ${name}` });

interface RegistrationPageProps extends FormProps {
  readonly kind: RegistrationKind;
  readonly record_form: Parameters<typeof RecordFields>[0]["kind"];
}

/** The form of a new client or resource, or of the one that it changes. */
function RegistrationPage({ app, kind, record_form, form }: RegistrationPageProps) {
  const is_new = isNew(form);
  return (
    <FormPage
      title={is_new ? `Register a ${kind}` : `Change the ${kind} “${textOf(form, "id")}”`}
      section="apps"
      about={oauthLink(app)}
      form={form}
    >
      <ActionForm
        action={appPath(app.slug, `/${kind}`)}
        form={form}
        button={is_new ? "Register" : "Save"}
        back={oauthPath(app.slug)}
      >
        <RecordFields kind={record_form} form={form} />
      </ActionForm>
    </FormPage>
  );
}

function ReplaceSecretPage(props: FormProps & { readonly client: ClientRecord }) {
  const { app, client, form } = props;
  return (
    <ConfirmationPage
      title={`Replace the secret of “${client.name}”?`}
      about={oauthLink(app)}
      action={appPath(app.slug, "/client-secret")}
      button="Replace the secret"
      back={oauthPath(app.slug)}
      named_by="id"
      fields={
        <Choice type="checkbox" name="now" value="yes" checked={form.values["now"] === "yes"}>
          Someone else knows the old secret. It stops working within a minute, and until its servers
          have the new one, nobody can sign in through this client.
        </Choice>
      }
      form={form}
    >
      <p>
        The next page shows a new secret, once. The old one works for 24 hours too: give the
        client’s servers the new secret within that time.
      </p>
    </ConfirmationPage>
  );
}

interface DeletePageProps extends FormProps {
  readonly kind: RegistrationKind;
  readonly name: string;
}

function DeletePage({ app, kind, name, form }: DeletePageProps) {
  return (
    <ConfirmationPage
      title={`Delete the ${kind} “${name}”?`}
      about={oauthLink(app)}
      action={appPath(app.slug, `/delete-${kind}`)}
      button="Delete"
      back={oauthPath(app.slug)}
      named_by="id"
      form={form}
    >
      <p>{DELETION_EFFECTS[kind]}</p>
      <p>This cannot be undone.</p>
    </ConfirmationPage>
  );
}

const DELETION_EFFECTS: Readonly<Record<RegistrationKind, string>> = {
  client:
    "Within a minute it can no longer ask people for connections, and this service refuses its tokens. Other resources that do not introspect its tokens accept them for at most ten minutes more. Its id is not used again. Its secret ends with it.",
  resource:
    "Within a minute no tokens are issued for it any more. Tokens that were issued work for at most ten minutes more.",
};
