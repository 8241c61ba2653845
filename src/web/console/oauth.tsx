/** `/console/apps/{slug}/oauth` and its forms: the OAuth clients and protected resources of an app. */
import type { OnceAnswer } from "../../account/contract.ts";
import { actingOf } from "../../http/api/admin/audited_action.ts";
import { saveClient } from "../../operator/save_client.ts";
import { saveResource } from "../../operator/save_resource.ts";
import { refused } from "../../domain/result.ts";
import {
  removeClient,
  removeClientQuery,
  replaceSecret,
  replaceSecretBody,
} from "../../http/api/admin/clients/change.ts";
import {
  clientSettings,
  idProblem,
  saveClientBody,
  type OAuthClient,
  type SavedClient,
} from "../../http/api/admin/clients/save.ts";
import { removeResource } from "../../http/api/admin/resources/change.ts";
import {
  ownAddressProblem,
  saveResourceBody,
  type Resource,
} from "../../http/api/admin/resources/save.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { emptyForm, type FormState } from "./form.tsx";
import {
  check,
  entriesOf,
  invalid,
  isNew,
  isOutdated,
  optional,
  readForm,
  shownText,
  submit,
  taken,
  textOf,
  versionOf,
  withSavedValues,
  type FailedForm,
} from "./forms.ts";
import { consoleNoticeText } from "./labels.ts";
import {
  ClientPage,
  DeletePage,
  oauthPath,
  OAuthPage,
  ReplaceSecretPage,
  ResourcePage,
} from "./oauth_page.tsx";
import { consolePath } from "./table.tsx";

const LABELS = {
  id: "The id",
  name: "The name",
  redirect_uris: "The redirect addresses",
  pkce_optional: "The choice for PKCE",
  uri: "The address",
  scopes: "The scopes",
  reason: "The reason",
};

const slugOf = (context: AppContext): string => context.req.param("slug") ?? "";

const findApp = (context: AppContext) => context.get("services").app_records.find(slugOf(context));

export const showOAuth = factory.createHandlers((context) => showLists(context, null));

async function showLists(context: AppContext, saved: SavedClient | null): Promise<Response> {
  const { oauth_records } = context.get("services");
  const slug = slugOf(context);
  const [app, clients, resources] = await Promise.all([
    findApp(context),
    oauth_records.listClients(slug),
    oauth_records.listResources(slug),
  ]);
  if (app === null || !clients.ok || !resources.ok) {
    return refuseWithPage(context, { code: "app_unknown" });
  }
  const lists = { clients: clients.value, resources: resources.value };
  const notice = consoleNoticeText(context.req.query("notice"));
  return context.html(<OAuthPage {...{ app, saved, notice }} {...lists} />);
}

const NEW_CLIENT = { kind: "confidential" };

export const showClient = factory.createHandlers(async (context) => {
  const id = context.req.query("id") ?? "";
  if (id === "") return showClientForm(context, { form: emptyForm(NEW_CLIENT), status: 200 });
  const { oauth_records } = context.get("services");
  const client = await oauth_records.findClient({ app_slug: slugOf(context), id });
  if (client === null) return refuseWithPage(context, { code: "client_not_found" });
  return showClientForm(context, { form: emptyForm(clientValues(client)), status: 200 });
});

const clientValues = (client: OAuthClient) => ({
  id: client.id,
  version: String(client.version),
  name: client.name,
  redirect_uris: client.redirect_uris.join("\n"),
  kind: client.public ? "public" : "confidential",
  pkce_optional: client.pkce_optional ? "yes" : "",
  refresh: client.refresh ? "yes" : "",
});

const CLIENT_FIELDS = ["name", "redirect_uris", "kind", "pkce_optional", "refresh"];

/** A field of a client's form as people read it. */
function shownClientValue(form: FormState, name: string): string {
  if (name !== "pkce_optional" && name !== "refresh") return shownText(form, name);
  return textOf(form, name) === "yes" ? "chosen" : "not chosen";
}

async function showClientForm(context: AppContext, failed: FailedForm) {
  const { form, status } = isOutdated(failed) ? await asSavedClient(context, failed) : failed;
  const app = await findApp(context);
  if (app === null) return refuseWithPage(context, { code: "app_unknown" });
  return context.html(<ClientPage {...{ app, form }} />, status);
}

/** The form of a client that someone else created or saved first. */
async function asSavedClient(context: AppContext, failed: FailedForm): Promise<FailedForm> {
  if (isNew(failed.form)) return taken(failed, TAKEN);
  const { oauth_records } = context.get("services");
  const key = { app_slug: slugOf(context), id: textOf(failed.form, "id") };
  const client = await oauth_records.findClient(key);
  if (client === null) return failed;
  return withSavedValues(failed, clientValues(client), CLIENT_FIELDS, shownClientValue);
}

/** The id is checked with the rest, so that a new form names all problems at once. */
function withId<Value>(form: FormState, checked: ReturnType<typeof check> & Value) {
  const problem = idProblem(textOf(form, "id"));
  if (problem === null) return checked;
  const problems = checked.ok ? {} : checked.refusal;
  return refused({ id: `${LABELS.id} ${problem}.`, ...problems });
}

/** A new client or resource must not replace another one that has its id. */
const TAKEN = {
  id: "This id is taken. Change the other one on its own page, or choose another id.",
};

export const doSaveClient = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  const client_key = { app_slug: slugOf(context), id: textOf(form, "id") };
  const body = {
    name: textOf(form, "name"),
    redirect_uris: entriesOf(form, "redirect_uris").map(({ entry }) => entry),
    public: textOf(form, "kind") === "public",
    pkce_optional: textOf(form, "pkce_optional") === "yes",
    refresh: textOf(form, "refresh") === "yes",
    ...versionOf(form),
    ...optional(form, "reason"),
  };
  const checked = check(saveClientBody, body, LABELS, form);
  const id_problem = withId(form, checked);
  if (!checked.ok || !id_problem.ok) {
    return showClientForm(context, invalid(form, id_problem.ok ? {} : id_problem.refusal));
  }
  let saved: SavedClient | null = null;
  const { settings, request } = clientSettings(checked.value);
  const failed = await submit(
    context,
    form,
    async () => {
      const acting = await actingOf(context);
      const result = await saveClient(acting, client_key, settings, { ...request, key: form.key });
      if (result.ok) saved = result.value.value;
      return result;
    },
    { too_many_clients: "id", client_deleted: "id" },
  );
  // The secret is in this response only. A redirect would need it in an address.
  return failed === null ? showLists(context, saved) : showClientForm(context, failed);
});

/** The page that asks for confirmation before a client's secret is replaced. */
export const showReplaceSecret = factory.createHandlers((context) => {
  const form = emptyForm({ id: context.req.query("id") ?? "" });
  return showReplaceSecretForm(context, { form, status: 200 });
});

async function showReplaceSecretForm(context: AppContext, { form, status }: FailedForm) {
  const { oauth_records } = context.get("services");
  const [app, client] = await Promise.all([
    findApp(context),
    oauth_records.findClient({ app_slug: slugOf(context), id: textOf(form, "id") }),
  ]);
  if (app === null) return refuseWithPage(context, { code: "app_unknown" });
  if (client === null) return refuseWithPage(context, { code: "client_not_found" });
  return context.html(<ReplaceSecretPage {...{ app, client, form }} />, status);
}

export const doReplaceSecret = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  const client_key = { app_slug: slugOf(context), id: textOf(form, "id") };
  const checked = check(replaceSecretBody, optional(form, "reason"), LABELS);
  if (!checked.ok) return showReplaceSecretForm(context, invalid(form, checked.refusal));
  const replacement = { ...checked.value, keeps_old: textOf(form, "now") !== "yes" };
  let saved: SavedClient | null = null;
  const failed = await submit(context, form, async () => {
    const result = await replaceSecret(context, client_key, replacement, form.key);
    if (result.ok) saved = result.value.value;
    return result;
  });
  return failed === null ? showLists(context, saved) : showReplaceSecretForm(context, failed);
});

export const showResource = factory.createHandlers(async (context) => {
  const id = context.req.query("id") ?? "";
  if (id === "") return showResourceForm(context, { form: emptyForm(), status: 200 });
  const { oauth_records } = context.get("services");
  const resource = await oauth_records.findResource({ app_slug: slugOf(context), id });
  if (resource === null) return refuseWithPage(context, { code: "resource_not_found" });
  return showResourceForm(context, { form: emptyForm(resourceValues(resource)), status: 200 });
});

const resourceValues = ({ id, version, uri, scopes }: Resource) => ({
  id,
  version: String(version),
  uri,
  scopes: scopes.join("\n"),
});

/** The form of a resource that someone else created or saved first. */
async function asSavedResource(context: AppContext, failed: FailedForm): Promise<FailedForm> {
  if (isNew(failed.form)) return taken(failed, TAKEN);
  const { oauth_records } = context.get("services");
  const key = { app_slug: slugOf(context), id: textOf(failed.form, "id") };
  const resource = await oauth_records.findResource(key);
  if (resource === null) return failed;
  return withSavedValues(failed, resourceValues(resource), ["uri", "scopes"]);
}

async function showResourceForm(context: AppContext, failed: FailedForm) {
  const { form, status } = isOutdated(failed) ? await asSavedResource(context, failed) : failed;
  const app = await findApp(context);
  if (app === null) return refuseWithPage(context, { code: "app_unknown" });
  return context.html(<ResourcePage {...{ app, form }} />, status);
}

export const doSaveResource = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  const resource_key = { app_slug: slugOf(context), id: textOf(form, "id") };
  const body = {
    uri: textOf(form, "uri"),
    scopes: entriesOf(form, "scopes").map(({ entry }) => entry),
    ...versionOf(form),
    ...optional(form, "reason"),
  };
  const checked = check(saveResourceBody, body, LABELS, form);
  const id_problem = withId(form, checked);
  if (!checked.ok || !id_problem.ok) {
    return showResourceForm(context, invalid(form, id_problem.ok ? {} : id_problem.refusal));
  }
  const own_address = ownAddressProblem(context, checked.value);
  if (own_address !== null) {
    const problems = { uri: `${LABELS.uri} ${own_address}.` };
    return showResourceForm(context, invalid(form, problems));
  }
  const { version, reason, ...settings } = checked.value;
  const failed = await submit(
    context,
    form,
    async () => {
      const request = { version, reason, key: form.key };
      return saveResource(await actingOf(context), resource_key, settings, request);
    },
    { resource_taken: "uri", too_many_resources: "id" },
  );
  return failed === null
    ? context.redirect(consolePath(oauthPath(slugOf(context)), { notice: "resource-saved" }), 303)
    : showResourceForm(context, failed);
});

type Kind = "client" | "resource";

/** The page that asks for confirmation before a client or resource is deleted. */
export const showDelete = (kind: Kind) =>
  factory.createHandlers((context) => {
    const form = emptyForm({ id: context.req.query("id") ?? "" });
    return showDeleteForm(context, kind, { form, status: 200 });
  });

async function showDeleteForm(context: AppContext, kind: Kind, { form, status }: FailedForm) {
  const { oauth_records } = context.get("services");
  const key = { app_slug: slugOf(context), id: textOf(form, "id") };
  const [app, name] = await Promise.all([
    findApp(context),
    kind === "client"
      ? oauth_records.findClient(key).then((client) => client?.name)
      : oauth_records.findResource(key).then((resource) => resource?.uri),
  ]);
  if (app === null) return refuseWithPage(context, { code: "app_unknown" });
  if (name === undefined) return refuseWithPage(context, { code: `${kind}_not_found` });
  return context.html(<DeletePage {...{ app, kind, name, form }} />, status);
}

export const doDelete = (kind: Kind) =>
  factory.createHandlers(async (context) => {
    const form = await readForm(context);
    const key = { app_slug: slugOf(context), id: textOf(form, "id") };
    const checked = check(removeClientQuery, optional(form, "reason"), LABELS);
    if (!checked.ok) return showDeleteForm(context, kind, invalid(form, checked.refusal));
    const remove = kind === "client" ? removeClient : removeResource;
    const perform = (): Promise<OnceAnswer<null>> => remove(context, key, checked.value, form.key);
    const failed = await submit(context, form, perform);
    return failed === null
      ? context.redirect(consolePath(oauthPath(key.app_slug), { notice: `${kind}-deleted` }), 303)
      : showDeleteForm(context, kind, failed);
  });
