/** The OAuth clients and protected resources of an app, and their forms. */
import type { PropsWithChildren } from "hono/jsx";
import { registeredClientId } from "../../domain/oauth_client.ts";
import type { OAuthClient, SavedClient } from "../../http/api/admin/clients/save.ts";
import type { Resource } from "../../http/api/admin/resources/save.ts";
import { Choice, FieldProblem } from "../device/fields.tsx";
import { FIRST_TO_READ, NoticeLine, Page } from "../layout/layout.tsx";
import { timeText } from "../layout/time.tsx";
import { appPath, type AppRecord } from "./apps_page.tsx";
import { ActionForm, Choices, Field, FormPage, Reason, type FormState } from "./form.tsx";
import { MadeSecret } from "./made_secret.tsx";
import { Panel } from "./panel.tsx";
import { ForRole, mayAct } from "./permission.tsx";
import { consolePath } from "./table.tsx";

type App = Pick<AppRecord, "slug" | "name">;
type Kind = "client" | "resource";

export const oauthPath = (slug: string): string => appPath(slug, "/oauth");

interface OAuthPageProps {
  readonly app: App;
  readonly clients: readonly OAuthClient[];
  readonly resources: readonly Resource[];
  /** The client that was saved just now. */
  readonly saved: SavedClient | null;
  readonly notice: string | null;
}

export function OAuthPage({ app, clients, resources, saved, notice }: OAuthPageProps) {
  return (
    <Page title={`OAuth: ${app.name}`} section="apps" scripts={["copy.js"]}>
      <NoticeLine notice={notice} />
      <div class="page-head">
        <h1>OAuth</h1>
        <a href={appPath(app.slug)}>{app.name}</a>
      </div>
      <div class="columns">
        <Panel id="clients" title="Clients">
          {saved === null ? null : <Saved {...saved} />}
          <p class="hint">
            A client asks people for a connection to their account, or signs them in to the app.
          </p>
          <Rows
            app={app}
            kind="client"
            rows={clients.map(clientRow)}
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
            rows={resources.map(({ id, uri, scopes }) => ({
              id,
              name: uri,
              hint: scopes.length === 0 ? "no scopes" : scopes.join(" "),
            }))}
            empty="This app has no resource."
          />
        </Panel>
      </div>
    </Page>
  );
}

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

function clientRow({ app_slug, id, name, last_used_at_ms, ...client }: OAuthClient): Row {
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
  readonly kind: Kind;
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
              <a
                class="button quiet small"
                href={consolePath(appPath(app.slug, "/client-secret"), { id })}
              >
                Replace secret<span class="unseen">{` of ${name}`}</span>
              </a>
            ) : null}
            {may_change ? (
              <a
                class="button quiet small"
                href={consolePath(appPath(app.slug, `/delete-${kind}`), { id })}
              >
                Delete<span class="unseen">{` ${name}`}</span>
              </a>
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

function Saved({ record: client, secret }: SavedClient) {
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

const REASON_HINT = "Optional. This is kept in the audit log.";

interface RegistrationProps extends FormProps {
  readonly kind: Kind;
  /** An example of an id. */
  readonly example: string;
}

/** The form of a new client or resource, or of the one that it changes. */
function Registration(props: PropsWithChildren<RegistrationProps>) {
  const { app, kind, form, example, children } = props;
  const { version } = form.values;
  const is_known = version !== undefined;
  const id = form.values["id"] ?? "";
  return (
    <FormPage
      title={is_known ? `Change the ${kind} “${id}”` : `Register a ${kind}`}
      section="apps"
      about={oauthLink(app)}
      form={form}
    >
      <ActionForm
        action={appPath(app.slug, `/${kind}`)}
        form={form}
        button={is_known ? "Save" : "Register"}
        back={oauthPath(app.slug)}
      >
        {is_known ? (
          <>
            <input type="hidden" name="id" value={id} />
            <input type="hidden" name="version" value={version} />
          </>
        ) : (
          <Field
            form={form}
            name="id"
            label="Id"
            hint={`Such as ${example}. You cannot change it later.`}
          />
        )}
        {children}
        <Reason form={form} hint={REASON_HINT} />
      </ActionForm>
    </FormPage>
  );
}

export function ClientPage({ app, form }: FormProps) {
  return (
    <Registration {...{ app, form }} kind="client" example="web">
      <Field
        form={form}
        name="name"
        label="Name"
        hint="People see it when the client requests a connection."
      />
      <Field
        form={form}
        name="redirect_uris"
        label="Redirect addresses"
        rows={3}
        spellcheck={false}
        hint="One per line, such as https://app.example.com/callback. They are compared exactly. http://127.0.0.1/callback allows any port of a program on a person’s own machine."
      />
      <Choices
        form={form}
        name="kind"
        legend="Where it runs"
        options={[
          ["confidential", "On a server that can keep a secret (confidential)"],
          ["public", "In a browser, or on a person’s device (public)"],
        ]}
      />
      <fieldset>
        <legend>Options</legend>
        <FieldProblem id="pkce_optional-problem" problem={form.problems["pkce_optional"]} />
        <FieldProblem id="refresh-problem" problem={form.problems["refresh"]} />
        <Choice
          type="checkbox"
          name="pkce_optional"
          id="pkce_optional"
          value="yes"
          checked={form.values["pkce_optional"] === "yes"}
        >
          PKCE is optional. Only for a server whose library does not support PKCE.
        </Choice>
        <Choice
          type="checkbox"
          name="refresh"
          id="refresh"
          value="yes"
          checked={form.values["refresh"] === "yes"}
        >
          It stays connected after the person signs out here.
        </Choice>
      </fieldset>
    </Registration>
  );
}

export function ResourcePage({ app, form }: FormProps) {
  return (
    <Registration {...{ app, form }} kind="resource" example="mcp">
      <Field
        form={form}
        name="uri"
        label="Address"
        inputmode="url"
        spellcheck={false}
        hint="Such as https://mcp.example.com/mcp. Clients must send exactly this address."
      />
      <Field
        form={form}
        name="scopes"
        label="Scopes"
        rows={3}
        spellcheck={false}
        hint="One per line, such as drawings:read. Clients may request these. Leave it empty if there are no scopes."
      />
    </Registration>
  );
}

interface ReplaceSecretPageProps extends FormProps {
  readonly client: OAuthClient;
}

export function ReplaceSecretPage({ app, client, form }: ReplaceSecretPageProps) {
  return (
    <FormPage
      title={`Replace the secret of “${client.name}”?`}
      section="apps"
      about={oauthLink(app)}
      form={form}
    >
      <p>
        The next page shows a new secret, once. The old one works for 24 hours too: give the
        client’s servers the new secret within that time.
      </p>
      <ActionForm
        action={appPath(app.slug, "/client-secret")}
        form={form}
        button="Replace the secret"
        danger
        back={oauthPath(app.slug)}
      >
        <input type="hidden" name="id" value={client.id} />
        <Choice type="checkbox" name="now" value="yes" checked={form.values["now"] === "yes"}>
          Someone else knows the old secret. It stops working within a minute, and until its servers
          have the new one, nobody can sign in through this client.
        </Choice>
        <Reason form={form} hint={REASON_HINT} />
      </ActionForm>
    </FormPage>
  );
}

interface DeletePageProps extends FormProps {
  readonly kind: Kind;
  readonly name: string;
}

export function DeletePage({ app, kind, name, form }: DeletePageProps) {
  return (
    <FormPage
      title={`Delete the ${kind} “${name}”?`}
      section="apps"
      about={oauthLink(app)}
      form={form}
    >
      {kind === "client" ? (
        <p>
          Within a minute it can no longer ask people for connections, and this service refuses its
          tokens. Other resources that do not introspect its tokens accept them for at most ten
          minutes more. Its id is not used again. Its secret ends with it.
        </p>
      ) : (
        <p>
          Within a minute no tokens are issued for it any more. Tokens that were issued work for at
          most ten minutes more.
        </p>
      )}
      <p>This cannot be undone.</p>
      <ActionForm
        action={appPath(app.slug, `/delete-${kind}`)}
        form={form}
        button="Delete"
        danger
        back={oauthPath(app.slug)}
      >
        <input type="hidden" name="id" value={form.values["id"] ?? ""} />
        <Reason form={form} hint={REASON_HINT} />
      </ActionForm>
    </FormPage>
  );
}
