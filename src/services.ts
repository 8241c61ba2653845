/** The composition root. Only this file and `worker.ts` name concrete adapters. */
import { createAccountDeletion } from "./operations/account_deletion.ts";
import { createArchiveStore } from "./archive/r2_store.ts";
import { createAccounts, exerciseCanary, keepMarkerInCanary } from "./account/clients/accounts.ts";
import { createClerkTokens } from "./account/clients/clerk_tokens.ts";
import { createUpstreamTokenVault, type UpstreamTokenSource } from "./account/clients/vault.ts";
import type { CardCharges } from "./domain/top_up.ts";
import { createAuthorization } from "./authorization/authorization.ts";
import { createStarterBudgets } from "./budget/client.ts";
import {
  ignoredOperators,
  incompleteIssuers,
  mistakenSettings,
  readConfig,
  type Config,
  type Misconfiguration,
} from "./config/config.ts";
import { createDeviceLogins } from "./device/client.ts";
import { createRequestCopies } from "./device/request_copies.ts";
import { createDeviceCodes } from "./device/device_code.ts";
import { createAlertRecords } from "./directory/alert_records.ts";
import { createAppIcons } from "./directory/app_icons.ts";
import { createAppKeyUses, createClientUses } from "./directory/last_uses.ts";
import { AppPauses } from "./directory/app_pauses.ts";
import { AppRecords } from "./directory/app_records.ts";
import { AppRegistry } from "./directory/apps.ts";
import { OAuthRecords } from "./directory/oauth_records.ts";
import { planListOf } from "./directory/plan_list.ts";
import { PlanRecords } from "./directory/plan_records.ts";
import { DirectoryCopy } from "./directory/directory_copy.ts";
import { AuditLog } from "./directory/audit.ts";
import { createDeletionRecords } from "./directory/deletions.ts";
import { failureCounterOf } from "./directory/failures.ts";
import { checkMarker } from "./directory/marker.ts";
import { WebhookRecords } from "./directory/webhook_records.ts";
import { createWebhookSecrets } from "./directory/webhook_secrets.ts";
import { webhookListOf } from "./directory/webhook_list.ts";
import { Webhooks } from "./directory/webhooks.ts";
import { createSupportCredits } from "./directory/support_credits.ts";
import { createScheduleRecord } from "./directory/schedule_record.ts";
import { createReconciliationProgress } from "./directory/reconciliation_progress.ts";
import { DAY_MS } from "./domain/calendar.ts";
import { EACH_MINUTE } from "./domain/error_budget.ts";
import { TRAFFIC_FIGURES } from "./domain/health.ts";
import { accepted, type Result } from "./domain/result.ts";
import { APP_ITSELF } from "./domain/webhook.ts";
import type { Services } from "./http/services.ts";
import { createBuiltinAdapter } from "./identity/builtin/adapter.ts";
import { KeptPeople } from "./identity/builtin/kept_people.ts";
import type { IdentityPort } from "./identity/port.ts";
import { createTokenPeople } from "./identity/token_people.ts";
import { withSessionEndings, type Ending } from "./identity/session_endings.ts";
import { createMacKeys } from "./keys/mac.ts";
import { createPseudonyms, rememberPseudonyms } from "./keys/pseudonym.ts";
import { createConsentForms } from "./keys/sealed_text.ts";
import { createKeyRing } from "./keys/signing.ts";
import {
  createAnalyticsEngine,
  createMetricsReader,
  type MetricsDataset,
} from "./metrics/analytics_engine.ts";
import { createRememberedRequests } from "./metrics/remembered_requests.ts";
import { createClerk } from "./oauth/clerk.ts";
import { createIssuerKeys, IssuerKeysUnavailable } from "./oauth/issuer_keys.ts";
import { createSocialNetwork } from "./oauth/social_network.ts";
import { createStripe } from "./payments/stripe.ts";
import type { ProjectionMessage } from "./readmodel/projector.ts";
import { ReadModel } from "./readmodel/queries.ts";
import { consumeProjections, type ConsumerOptions } from "./readmodel/queue_projector.ts";
import { walkAccounts } from "./readmodel/account_walk.ts";
import { carryTotals } from "./readmodel/carried.ts";
import { cleanReadModel, deleteLeftJobs } from "./readmodel/retention.ts";
import { listTopSpenders } from "./readmodel/top_spenders.ts";
import { createDirectProjector } from "./readmodel/direct_projector.ts";
import { copyAppIcon } from "./operations/app_icon_copy.ts";
import { sendAlerts } from "./operations/alerts.ts";
import { createManual } from "./operations/manual.ts";
import { createHealth, databaseBytes, readTrafficFigures } from "./operations/health.ts";
import { checkArchive, checkDatabase, createReadiness } from "./operations/readiness.ts";
import { sayProblem } from "./config/problems.ts";
import { createIssuerTokens } from "./tokens/issuer_token.ts";
import { createLivingCredentials } from "./tokens/living_credentials.ts";
import { createMint } from "./tokens/mint.ts";
import { createOAuthTokens } from "./tokens/oauth_tokens.ts";
import { createPersonalTokens } from "./tokens/personal_token.ts";
import { checkKeys, createSessionTokens } from "./tokens/session_token.ts";
import { createTemplateTokens } from "./tokens/template_token.ts";
import { compareSomeAccounts } from "./operations/compared_accounts.ts";
import { repairLostAccounts } from "./operations/lost_accounts.ts";
import { createPaymentBooking } from "./operations/payment_booking.ts";
import { createPaymentReconciliation } from "./operations/payment_reconciliation.ts";
import { bringPlans } from "./operations/changed_plans.ts";
import { compareAccount } from "./operator/differences.ts";
import { createProof } from "./readmodel/proof.ts";
import { requestDueArchives } from "./operations/due_archives.ts";
import { wakeOverdueAccounts } from "./operations/overdue_accounts.ts";
import { runUpkeep } from "./operations/upkeep.ts";
import { createWildcardGuard } from "./operations/wildcards.ts";
import type { DeliveriesParts } from "./webhooks/deliveries.ts";
import { createDeliveryRecords } from "./webhooks/delivery_records.ts";
import { callSender, createWebhookEngine, replaySince } from "./webhooks/engine.ts";
import type { SenderParts } from "./webhooks/sender.ts";

/** The caller of actions that a live session already approved: issuing a token, and deleting the account. */
const HOLDER = { kind: "holder" } as const;

const built = new WeakMap<Env, Result<Services, Misconfiguration>>();

/** The services of an environment, built once per isolate. */
export function servicesFor(env: Env): Result<Services, Misconfiguration> {
  const cached = built.get(env);
  if (cached !== undefined) return cached;
  const services = build(env);
  built.set(env, services);
  return services;
}

function build(env: Env): Result<Services, Misconfiguration> {
  const read = readSettings(env);
  if (!read.ok) return read;
  const config = read.value;
  const accounts = createAccounts(env.ACCOUNT);
  const macKeysFor = (purpose: string) => createMacKeys(config.signing_keys, purpose);
  const pseudonymsOf = createPseudonyms(macKeysFor("passbook pseudonym 1"));
  const logPseudonymsOf = createPseudonyms(macKeysFor("passbook log pseudonym 1"));
  const vault = createUpstreamTokenVault(accounts, {
    encryption_keys: config.encryption_keys,
    providers: config.signin_providers,
  });
  const archive = createArchiveStore(env);
  const kept_people = keptPeopleOf(env, config, { archive, pseudonymsOf });
  const identity = withSessionEndings(
    createIdentity(env, config, { accounts, vault, pseudonymsOf, kept_people }),
    (identity_id, ending) => endDependents(accounts(identity_id), ending),
  );
  const directory = directoryOf(env, config);
  const webhooks = webhooksOf(env, config, { ...directory, accounts });
  const people = { accounts, identity, kept_people, pseudonymsOf };
  const parts = { ...directory, ...webhooks, ...people, archive };
  const directory_copy = directoryCopyOf(env, config, parts);
  const tokens = tokensOf(config, { accounts, identity });
  const read_model = new ReadModel(env.DB);
  const metrics = metricsOf(env, config);
  return accepted({
    config,
    accounts,
    identity,
    kept_people,
    directory_copy,
    vault,
    read_model,
    proof: createProof(env.DB),
    archive,
    ...directory,
    ...webhooks,
    ...tokens,
    ...paymentsOf(env, config, parts),
    ...createAuthorization({
      apps: directory.apps,
      copies: env.CLIENT_DOCUMENTS,
      copyIcon: copyAppIcon,
      allows_loopback: config.dev_signin,
    }),
    ...metrics,
    pseudonymsOf: (identity_id) => logPseudonymsOf([identity_id]),
    pseudonymOf: rememberPseudonyms(logPseudonymsOf),
    copyAppIcon,
    readHealth: healthOf(env, config, { ...parts, ...metrics, directory_copy, read_model }),
    reserve_starter: createStarterBudgets(env.STARTER_BUDGET),
    account_deletion: accountDeletionOf(env, parts),
    token_people: createTokenPeople(identity),
    upstream_tokens: createUpstreamTokens(config, vault, identity),
    social_network:
      config.social_api_url === null ? null : createSocialNetwork(config.social_api_url),
    consent_forms: createConsentForms(config.encryption_keys),
    device_logins: createDeviceLogins(env.DEVICE_LOGIN),
    device_codes: createDeviceCodes(macKeysFor("passbook device code 1")),
    request_copies: createRequestCopies(env.DEVICE_CODES),
    readiness: readinessOf(env, { accounts, archive, ...tokens }),
    limiters: ({ binding }) => env[binding],
    living_credentials: createLivingCredentials(),
    readManual: createManual(env.ASSETS),
  });
}

/** The settings. Logs what is wrong with them. */
function readSettings(env: Env): Result<Config, Misconfiguration> {
  for (const mistaken of mistakenSettings(env)) {
    console.warn({ event: "setting_unknown", ...mistaken });
  }
  const read = readConfig(env);
  if (!read.ok) {
    console.error({ event: "misconfigured", problems: read.refusal.problems.map(sayProblem) });
    return read;
  }
  for (const ignored of ignoredOperators(read.value)) {
    console.warn({ event: "operator_ignored", ...ignored });
  }
  for (const incomplete of incompleteIssuers(read.value)) {
    console.warn({ event: "trusted_issuer_incomplete", ...incomplete });
  }
  return read;
}

type Identities = Pick<Services, "accounts" | "identity">;

function directoryOf({ ASSETS, DIRECTORY }: Env, { default_starter_credits, dev_signin }: Config) {
  const keepOwned = createWildcardGuard(ASSETS);
  const apps = new AppRegistry({ database: DIRECTORY, keepOwned, default_starter_credits });
  return {
    keepOwned,
    apps,
    app_records: new AppRecords(DIRECTORY, {
      changed: () => apps.forget(),
      is_development: dev_signin,
    }),
    app_pauses: new AppPauses(DIRECTORY, () => apps.forget()),
    oauth_records: new OAuthRecords(DIRECTORY, () => apps.forget()),
    plan_records: new PlanRecords(DIRECTORY, () => planListOf(DIRECTORY).forget()),
    app_icons: createAppIcons(DIRECTORY),
    note_app_key_use: createAppKeyUses(DIRECTORY),
    note_client_use: createClientUses(DIRECTORY),
    audit: new AuditLog(DIRECTORY),
    failures: failureCounterOf(DIRECTORY),
    support_credits: createSupportCredits(DIRECTORY),
  };
}

function webhooksOf(
  { DB, DIRECTORY, WEBHOOK_DELIVERIES, WEBHOOK_SENDER }: Env,
  { dev_signin, encryption_keys }: Config,
  { accounts, app_pauses }: Pick<Services, "accounts" | "app_pauses">,
) {
  const secrets = createWebhookSecrets(encryption_keys);
  const list = webhookListOf(DIRECTORY);
  const webhooks = new Webhooks(DIRECTORY, secrets, list);
  const sender_parts: SenderParts = {
    is_development: dev_signin,
    findWebhook: (uid) => webhooks.find(uid),
    secretsOf: (uid) => webhooks.secretsOf(uid),
    pause: (uid, reason) => webhooks.pause(uid, reason),
    readEvents: async (identity_id, request) =>
      identity_id === APP_ITSELF
        ? app_pauses.readEvents(request)
        : accounts(identity_id).readWebhookEvents(request),
    deliveries: createDeliveryRecords(WEBHOOK_DELIVERIES),
  };
  const deliveries_parts: DeliveriesParts = {
    findWebhook: (uid) => webhooks.find(uid),
    saveOutcome: (uid, outcome) => webhooks.saveOutcome(uid, outcome),
    callSender: (how, uid, identity_id) => callSender(WEBHOOK_SENDER, how, uid, identity_id),
    listActive: (after, limit) => new ReadModel(DB).listActive(after, limit),
    replay: (webhook, identity_id, since_ms) =>
      replaySince({ ...sender_parts, senders: WEBHOOK_SENDER }, webhook, identity_id, since_ms),
  };
  return {
    webhooks,
    webhook_records: new WebhookRecords(DIRECTORY, secrets, () => webhooks.forget()),
    webhook_engine: createWebhookEngine({
      ...sender_parts,
      senders: WEBHOOK_SENDER,
      deliveries: WEBHOOK_DELIVERIES,
    }),
    sender_parts,
    deliveries_parts,
  };
}

function tokensOf(config: Config, { accounts, identity }: Identities) {
  const keys = createKeyRing(config.signing_keys);
  const personal_tokens = createPersonalTokens(
    createMacKeys(config.signing_keys, "passbook personal token 1"),
  );
  return {
    keys,
    session_tokens: createSessionTokens(keys),
    issuer_tokens: createIssuerTokens(
      config.trusted_issuers,
      ({ issuer, jwks_uri }) => createIssuerKeys(issuer, jwks_uri),
      (error) => error instanceof IssuerKeysUnavailable,
    ),
    template_tokens: createTemplateTokens(keys),
    personal_tokens,
    ...createOAuthTokens(config.signing_keys, config.id_token_keys, keys),
    mint_personal_token: createMint({
      personal_tokens,
      ttl_days: config.pat_ttl_days,
      issue: (identity_id, token) => accounts(identity_id).issueAllowance(HOLDER, token),
      revoke: (identity_id, id) => accounts(identity_id).revokeAllowance(HOLDER, { id }),
      readSession: (session_id, identity_id) => identity.readSession(session_id, identity_id),
    }),
  };
}

/** Locally, where Cloudflare's store of metrics cannot be read, requests stay in memory. */
function metricsOf(
  { METRICS }: Env & { readonly METRICS?: MetricsDataset },
  { dev_signin, metrics }: Config,
) {
  if (dev_signin && metrics === null) {
    const remembered = createRememberedRequests();
    return { request_metrics: remembered, requests: remembered };
  }
  return {
    request_metrics: METRICS === undefined ? null : createAnalyticsEngine(METRICS),
    requests: metrics === null ? null : createMetricsReader(metrics),
  };
}

type PseudonymsOf = ReturnType<typeof createPseudonyms>;

function paymentsOf(
  env: Env,
  config: Config,
  parts: Identities & Pick<Services, "failures"> & { readonly pseudonymsOf: PseudonymsOf },
) {
  const { accounts, identity, failures, pseudonymsOf } = parts;
  const payment_booking = createPaymentBooking({
    accounts,
    hasPerson: async (identity_id) => (await identity.readPerson(identity_id)) !== null,
    changeDebt: (identity_id, credits) => identity.changeDebt(identity_id, credits),
  });
  if (config.payments === null) {
    return { payments: null, payment_booking, payment_reconciliation: null };
  }
  const payments = createStripe({ ...config.payments, marks: () => pseudonymsOf(["payments"]) });
  const payment_reconciliation = createPaymentReconciliation({
    listRecent: (...page) => payments.listRecent(...page),
    bookMissing: (effect) => payment_booking.bookMissing(effect),
    countMissed: (missed) => failures.count("payment_not_booked", missed),
    progress: createReconciliationProgress(env.DIRECTORY),
  });
  return { payments, payment_booking, payment_reconciliation };
}

function healthOf(
  env: Env,
  config: Config,
  parts: Pick<
    Services,
    | "failures"
    | "app_records"
    | "directory_copy"
    | "kept_people"
    | "read_model"
    | "requests"
    | "webhooks"
    | "webhook_records"
  >,
) {
  const { failures, app_records, directory_copy, kept_people, read_model } = parts;
  const { webhooks, webhook_records } = parts;
  return createHealth({
    readTraffic: parts.requests?.readTraffic ?? null,
    sizeOf: {
      directory: () => databaseBytes(env.DIRECTORY),
      read_model: () => databaseBytes(env.DB),
    },
    readFailures: (now_ms) => failures.read(now_ms),
    readSchedule: () => createScheduleRecord(env.DIRECTORY).read(),
    listApps: (limit) => app_records.list({ after_slug: undefined, limit }),
    readGranted: (day, app_slugs) => read_model.readGranted(day, app_slugs),
    listPausedWebhooks: () => webhooks.listPaused(),
    listFailingWebhooks: (limit) => webhook_records.listFailing(limit),
    readComparisonBegin: async () => (await createProof(env.DB).readRound())?.began_at_ms ?? null,
    readCopied: (now_ms) => directory_copy.copiedAt(now_ms),
    readPeopleWaiting: () => kept_people.waitingSince(),
    listFilling: (limit) => read_model.listFilling(limit),
    readSpent: async (day) => {
      const [today] = await read_model.readDailyTotals(day, day + 1, null);
      return today?.settled ?? 0;
    },
    spend_limit: config.daily_spend_alert_credits,
  });
}

function accountDeletionOf(
  env: Env,
  parts: Identities & Pick<Services, "audit"> & { readonly pseudonymsOf: PseudonymsOf },
) {
  const { accounts, identity, audit, pseudonymsOf } = parts;
  return createAccountDeletion({
    records: createDeletionRecords(env.DIRECTORY),
    closeAccount: (identity_id, by) => accounts(identity_id).deleteAccount({ kind: by }),
    isClosed: (identity_id) => accounts(identity_id).isDeleted(),
    forget: [
      async (identity_id) => {
        const account = accounts(identity_id);
        const owed = await account.readOwed();
        await identity.forgetPerson(identity_id, owed);
        // A chargeback meanwhile did not find the debt that was only being written.
        const { credits } = await account.readOwed();
        if (credits !== owed.credits) await identity.changeDebt(identity_id, credits);
      },
      (identity_id) => forgetInAudit({ audit, pseudonymsOf }, identity_id),
      // Again when the deletion is repeated: a segment that was under way may have arrived after the erasure.
      async (identity_id) => {
        while (!(await accounts(identity_id).forgetArchive()));
      },
    ],
  });
}

/** Reads upstream tokens also from Clerk, if an issuer's entry says that they are there. */
function createUpstreamTokens(
  { clerk, trusted_issuers }: Config,
  vault: UpstreamTokenSource,
  identity: IdentityPort,
): UpstreamTokenSource {
  const issuer = trusted_issuers.find(({ upstream_tokens }) => upstream_tokens === "clerk");
  if (clerk === null || issuer === undefined) return vault;
  return createClerkTokens({
    vault,
    readToken: createClerk(clerk),
    readSubject: (identity_id) => identity.readSubject(identity_id, issuer.people_issuer),
  });
}

/** Ends the streams and personal tokens that depend on a session or sign-in method that ended. */
async function endDependents(
  account: ReturnType<Services["accounts"]>,
  ending: Ending,
): Promise<unknown> {
  switch (ending.kind) {
    case "sessions":
      return account.endSessions(ending.session_ids);
    case "all_sessions":
      return account.endSessions("all");
    case "signin_method":
      return account.revokeApprovedBy(ending);
  }
}

function readinessOf(
  env: Env,
  { accounts, archive, session_tokens }: Pick<Services, "accounts" | "archive" | "session_tokens">,
): Services["readiness"] {
  return createReadiness({
    directory: () => checkMarker(env.DIRECTORY, (id) => keepMarkerInCanary(accounts, id)),
    read_model: checkDatabase(env.DB),
    archive: () => checkArchive(archive),
    codes: () => env.DEVICE_CODES.get("readiness"),
    keys: () => checkKeys(session_tokens),
    account: () => exerciseCanary(accounts, env.RELEASE),
  });
}

function directoryCopyOf(
  { DIRECTORY }: Env,
  { encryption_keys }: Config,
  parts: Pick<Services, "apps" | "archive" | "audit" | "identity" | "kept_people" | "webhooks"> & {
    readonly pseudonymsOf: PseudonymsOf;
  },
): DirectoryCopy {
  const { apps, archive, audit, identity, kept_people, webhooks, pseudonymsOf } = parts;
  return new DirectoryCopy({
    database: DIRECTORY,
    archive,
    key_id: encryption_keys[0]?.kid ?? null,
    sealAgain: () => kept_people.sealAgain(),
    changed: () => {
      apps.forget();
      planListOf(DIRECTORY).forget();
      webhooks.forget();
    },
    forgetLeft: async (identity_ids) => {
      const people = await identity.readPeople(identity_ids);
      for (const identity_id of identity_ids) {
        if (people.has(identity_id) || (await kept_people.has(identity_id))) continue;
        await forgetInAudit({ audit, pseudonymsOf }, identity_id);
      }
    },
  });
}

/** Replaces a deleted person by a pseudonym. */
async function forgetInAudit(
  { audit, pseudonymsOf }: Pick<Services, "audit"> & { readonly pseudonymsOf: PseudonymsOf },
  identity_id: string,
): Promise<void> {
  const [pseudonym] = await pseudonymsOf(["person", identity_id]);
  await audit.forgetPerson(identity_id, `deleted_${pseudonym}`);
}

function keptPeopleOf(
  { DIRECTORY }: Env,
  { encryption_keys }: Config,
  parts: Pick<Services, "archive"> & { readonly pseudonymsOf: PseudonymsOf },
): KeptPeople {
  return new KeptPeople({ database: DIRECTORY, encryption_keys, ...parts });
}

interface IdentityParts extends Pick<Services, "accounts" | "vault" | "kept_people"> {
  readonly pseudonymsOf: PseudonymsOf;
}

/** The identity adapter. */
function createIdentity(
  env: Env,
  config: Config,
  { accounts, vault, pseudonymsOf, kept_people }: IdentityParts,
): IdentityPort {
  return createBuiltinAdapter({
    database: env.DIRECTORY,
    base_url: config.base_url,
    dev_signin: config.dev_signin,
    provider_signin: config.provider_signin,
    passkey_signin: config.passkey_signin,
    passkey_starters: config.passkey_starters,
    providers: config.signin_providers,
    encryption_keys: config.encryption_keys,
    pseudonyms_of: pseudonymsOf,
    people_copy: kept_people,
    open_returned: (identity_id) => accounts(identity_id).openReturned(),
    // A deleted account refuses the debts; the account that replaces it takes them over.
    owe_debts: async (identity_id, debts) => (await accounts(identity_id).oweDebts(debts)).ok,
    store_upstream_tokens: (identity_id, tokens) => vault.keep(identity_id, tokens),
    forget_upstream_tokens: (identity_id, provider, linked_at_ms) =>
      vault.forget(identity_id, provider, linked_at_ms),
  });
}

/** The parts of the senders of webhooks. @throws if the settings are wrong. */
export function senderPartsOf(env: Env): SenderParts {
  const services = servicesFor(env);
  if (!services.ok) throw new Error("misconfigured");
  return services.value.sender_parts;
}

/** The parts of the objects with the deliveries of webhooks. @throws if the settings are wrong. */
export function deliveriesPartsOf(env: Env): DeliveriesParts {
  const services = servicesFor(env);
  if (!services.ok) throw new Error("misconfigured");
  return services.value.deliveries_parts;
}

/** The payment service for accounts' objects; null: nothing is for sale. @throws if the settings are wrong. */
export function cardChargesOf(env: Env): CardCharges | null {
  const services = servicesFor(env);
  if (!services.ok) throw new Error("misconfigured");
  return services.value.payments?.card_charges ?? null;
}

/** The consumer of the queue `PROJECTIONS`. It reads no settings, so deliveries continue while settings are wrong. */
export function projectionConsumer(
  env: Env,
): (batch: MessageBatch<ProjectionMessage>) => Promise<void> {
  const accounts = createAccounts(env.ACCOUNT);
  const projector = createDirectProjector(env.DB);
  const catchUp = (identity_id: string): Promise<void> => accounts(identity_id).catchUp();
  const failures = failureCounterOf(env.DIRECTORY);
  const countFailure: ConsumerOptions["countFailure"] = (failure) =>
    failures.count("failed_delivery", failure);
  return (batch) => consumeProjections(batch, { projector, catchUp, countFailure });
}

/** Waiting changes of people that one run copies: a person's own request copies it at once, so few wait. */
const PEOPLE_KEPT = 200;

/** The scheduled tasks that keep the copies of accounts, and compare accounts with them. */
function copyTasks({
  config,
  identity,
  accounts,
  archive,
  directory_copy,
  kept_people,
  read_model,
  failures,
  payments,
  proof,
}: Services): Readonly<Record<string, () => Promise<object>>> {
  const requestArchives = () =>
    requestDueArchives({
      listDue: (limit) =>
        read_model.listUnarchived({
          before_ms: Date.now() - config.archive_max_age_days * DAY_MS,
          start: crypto.randomUUID(),
          limit,
        }),
      request: (identity_id) => accounts(identity_id).requestArchive(),
    });
  const comparison = () =>
    compareSomeAccounts(
      {
        listPeople: (after_id, limit) => identity.listIdentities(after_id, limit),
        compare: (identity_id) => compareAccount({ accounts, payments }, identity_id),
        proof,
        count: (found) => failures.count("difference", found),
      },
      Date.now(),
    );
  // Each takes up to seven calls of the stores.
  const keepPeople = () => kept_people.keepSome(PEOPLE_KEPT);
  const copyDirectory = () => directory_copy.copyDue(Date.now());
  const archived = { archive: requestArchives, people: keepPeople, directory: copyDirectory };
  return { ...(archive === null ? {} : archived), comparison };
}

/** Where warnings are sent and recorded. */
const alertsOf = ({ DIRECTORY }: Env, { alert_webhook_url, base_url }: Config) => ({
  webhook_url: alert_webhook_url,
  base_url,
  records: createAlertRecords(DIRECTORY),
});

/** The check of each minute, which does nothing without metrics. @throws if the settings are wrong */
function trafficAlertsOf(env: Env): () => Promise<void> {
  const services = servicesFor(env);
  if (!services.ok) throw new Error("misconfigured");
  const { config, requests } = services.value;
  const readTraffic = requests?.readTraffic ?? null;
  return async () => {
    if (readTraffic === null) return;
    const readFigures = () => readTrafficFigures(readTraffic);
    await sendAlerts({ ...alertsOf(env, config), readFigures });
  };
}

/** The work of a trigger. @throws if the settings are wrong or a part fails. */
export const scheduledWorkOf = (env: Env, cron: string): (() => Promise<void>) =>
  cron === EACH_MINUTE ? trafficAlertsOf(env) : upkeepOf(env);

/** The figures that no other check judges. */
async function figuresOfSchedule({ readHealth, requests }: Services) {
  const { figures, read_at_ms } = await readHealth();
  const of_others: readonly string[] = requests?.readTraffic ? TRAFFIC_FIGURES : [];
  return { figures: figures.filter(({ name }) => !of_others.includes(name)), read_at_ms };
}

/** The scheduled work. @throws if the settings are wrong or a part fails. */
export function upkeepOf(env: Env): () => Promise<void> {
  const services = servicesFor(env);
  if (!services.ok) throw new Error("misconfigured");
  const { config, identity, account_deletion, accounts, read_model } = services.value;
  const { failures, payment_reconciliation, webhook_engine, webhooks } = services.value;
  const readFigures = () => figuresOfSchedule(services.value);
  const schedule_record = createScheduleRecord(env.DIRECTORY);
  return () =>
    runUpkeep(
      {
        read_model: () => cleanReadModel(env.DB, config.read_model_days, Date.now()),
        sessions: () => identity.deleteEndedSessions(),
        lost_accounts: () =>
          repairLostAccounts(
            {
              listPeople: (after_id, limit) => identity.listIdentities(after_id, limit),
              knownTo: (identity_ids) => read_model.knownIdentities(identity_ids),
              repair: (identity_id) => accounts(identity_id).repair(),
            },
            `user_${crypto.randomUUID()}`,
          ),
        overdue_accounts: () =>
          wakeOverdueAccounts(
            {
              listOverdue: (before_ms) => walkAccounts(env.DB, before_ms, Date.now()),
              countOverdue: (overdue) =>
                failures.count("overdue_job", { reason: "overdue", ...overdue }),
              repair: (identity_id) => accounts(identity_id).repair(),
            },
            Date.now(),
          ),
        carried_totals: () => carryTotals(env.DB, Date.now()),
        left_jobs: () => deleteLeftJobs(env.DB),
        top_spenders: () => listTopSpenders(env.DB, Date.now()),
        ...copyTasks(services.value),
        plans: () => bringPlans(services.value),
        deletions: () => account_deletion.finishRecorded(Date.now()),
        ...(payment_reconciliation === null
          ? {}
          : { payments: () => payment_reconciliation.continuePass(Date.now()) }),
        failures: () => failures.deleteOld(Date.now()),
        audit: () => services.value.audit.deleteOldOfApps(Date.now()),
        webhooks: async () => webhook_engine.checkDeliveries(await webhooks.readAll()),
      },
      async (ended) => {
        try {
          await schedule_record.write(ended, Date.now());
        } finally {
          // After the record: whether the schedule runs is one of the figures.
          await sendAlerts({ ...alertsOf(env, config), readFigures });
        }
      },
    );
}
