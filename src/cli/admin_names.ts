/** The short names of operators' commands. An operation without one has only its generated name, such as `read-resource`. */

interface Name {
  /** The words after `passbook admin`. */
  readonly words: string;
  /** Fields that are arguments instead of options, after those of the path. */
  readonly values?: readonly string[];
  /** Options whose names differ from those of their fields. */
  readonly options?: Readonly<Record<string, string>>;
  /** Reads all pages, because nobody registers many. */
  readonly all?: true;
}

/** By the operation's id. */
export const NAMES: Readonly<Record<string, Name>> = {
  findAccounts: { words: "accounts", values: ["q"] },
  inspectAccount: { words: "account" },
  deleteAccount: { words: "delete" },
  exportAccount: { words: "export" },
  listAccountPurchases: { words: "purchases" },
  listAccountLedger: { words: "ledger" },
  adjustCredits: {
    words: "credits",
    values: ["amount"],
    options: { allowNegative: "below-zero" },
  },
  refundJob: { words: "refund" },
  changePlan: { words: "plan", values: ["plan"] },
  signOutAccount: { words: "signout" },
  restoreAccount: { words: "restore" },
  revokeAccountToken: { words: "revoke" },
  findJobs: { words: "jobs" },
  readStats: { words: "stats" },
  readMoney: { words: "money", options: { list: "csv" } },
  inspectHealth: { words: "health" },
  listOperators: { words: "operators" },
  listRequests: { words: "requests" },
  listAudit: { words: "audit" },
  listApps: { words: "apps", all: true },
  saveApp: {
    words: "apps set",
    options: { maxOveragePercent: "max-overage", starterExcludedDomains: "exclude-domain" },
  },
  changeApp: {
    words: "apps change",
    options: { maxOveragePercent: "max-overage", starterExcludedDomains: "exclude-domain" },
  },
  pauseApp: { words: "apps pause" },
  continueApp: { words: "apps continue" },
  listAppKeys: { words: "apps keys", all: true },
  addAppKey: { words: "apps add-key", values: ["label"] },
  revokeAppKey: { words: "apps revoke-key" },
  listOAuthClients: { words: "apps clients" },
  saveOAuthClient: { words: "apps set-client", options: { redirectUris: "redirect" } },
  deleteOAuthClient: { words: "apps delete-client" },
  replaceClientSecret: { words: "apps replace-client-secret" },
  listResources: { words: "apps resources" },
  saveResource: { words: "apps set-resource" },
  deleteResource: { words: "apps delete-resource" },
  listPlans: { words: "plans" },
  savePlan: { words: "plans set" },
  deletePlan: { words: "plans delete" },
  listWebhooks: { words: "apps webhooks" },
  // `--url` is the service's address.
  saveWebhook: { words: "apps set-webhook", options: { url: "to" } },
  deleteWebhook: { words: "apps delete-webhook" },
  rotateWebhookSecret: { words: "apps rotate-webhook" },
  testWebhook: { words: "apps test-webhook" },
  retryWebhook: { words: "apps retry-webhook" },
  listWebhookAttempts: { words: "apps attempts" },
  listWebhookDeliveries: { words: "apps deliveries" },
  replayWebhook: { words: "apps replay-webhook", values: ["identityId", "afterLine"] },
};

/** Long names that are not those of the operations: `restore-account` restores an account to an earlier time, and `rebuild-directory` does all portions. */
export const LONG_NAMES: Readonly<Record<string, string>> = {
  restoreAccount: "end-suspension",
  rebuildDirectory: "rebuild-directory-portion",
};

/** The help shows the commands of `admin_combinations.ts` instead of these. */
export const COMBINED: readonly string[] = [
  "readAccountJob",
  "suspendAccount",
  "suspendAccounts",
  "rebuildAccount",
  "rebuildAccounts",
  "listDifferences",
  "listAccountDifferences",
  "archiveAccount",
  "archiveAccounts",
  "copyDirectory",
  "rebuildDirectory",
  "listArchiveHeads",
  "readAccountArchive",
  "readArchiveSegment",
  "planRecovery",
  "recoverAccount",
  "planLostRestore",
  "restoreLost",
  "reconcilePayments",
];
