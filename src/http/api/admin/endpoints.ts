/** The endpoints of operators. */
import type { Endpoint } from "../endpoint.ts";
import {
  revokeAccountToken,
  adjustCredits,
  refundJob,
  changePlan,
  rebuildAccount,
  restoreAccount,
  signOutAccount,
  suspendAccount,
} from "./accounts/change.ts";
import {
  listAccountJobs,
  listAccountLedger,
  findAccounts,
  inspectAccount,
  readAccountJob,
} from "./accounts/read.ts";
import { exportAccount, deleteAccount } from "./accounts/privacy.ts";
import {
  archiveAccount,
  archiveAccounts,
  listArchiveHeads,
  readAccountArchive,
  readArchiveSegment,
} from "./archive/archive.ts";
import { suspendAccounts } from "./accounts/suspend_many.ts";
import { revokeAppKey, listAppKeys, addAppKey } from "./apps/keys.ts";
import { listAccountPurchases } from "./accounts/purchases.ts";
import { continueApp, listApps, pauseApp, saveApp } from "./apps/apps.ts";
import {
  deleteOAuthClient,
  readOAuthClient,
  listOAuthClients,
  replaceClientSecret,
  saveOAuthClient,
} from "./clients/clients.ts";
import {
  deleteResource,
  readResource,
  listResources,
  saveResource,
} from "./resources/resources.ts";
import {
  deleteWebhook,
  listWebhookDeliveries,
  listWebhooks,
  replayWebhook,
  retryWebhook,
  rotateWebhookSecret,
  testWebhook,
  saveWebhook,
} from "./webhooks/webhooks.ts";
import {
  findJobs,
  listAudit,
  listOperators,
  readStats,
  rebuildAccounts,
  reconcilePayments,
  inspectHealth,
  readMoney,
} from "./service.ts";

export const OPERATOR_API: readonly Endpoint[] = [
  findAccounts,
  suspendAccounts,
  inspectAccount,
  deleteAccount,
  exportAccount,
  listAccountJobs,
  readAccountJob,
  listAccountPurchases,
  listAccountLedger,
  adjustCredits,
  refundJob,
  changePlan,
  suspendAccount,
  restoreAccount,
  signOutAccount,
  rebuildAccount,
  revokeAccountToken,
  readAccountArchive,
  readArchiveSegment,
  archiveAccount,
  listArchiveHeads,
  archiveAccounts,
  listApps,
  saveApp,
  pauseApp,
  continueApp,
  listAppKeys,
  addAppKey,
  revokeAppKey,
  listOAuthClients,
  readOAuthClient,
  saveOAuthClient,
  deleteOAuthClient,
  replaceClientSecret,
  listResources,
  readResource,
  saveResource,
  deleteResource,
  listWebhooks,
  saveWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  testWebhook,
  listWebhookDeliveries,
  replayWebhook,
  retryWebhook,
  rebuildAccounts,
  reconcilePayments,
  findJobs,
  readStats,
  readMoney,
  inspectHealth,
  listAudit,
  listOperators,
];
