/** The webhooks of one app, for the app's own server. Operators have them in `passbook-client/admin`. */
import { createCalls, type CallOptions, type WriteOptions } from "./calls.ts";
import type { Credentials } from "./credentials.ts";
import type {
  RotatedSecret,
  SavedWebhook,
  TestedWebhook,
  Webhook,
  WebhookAttempt,
  WebhookAttemptList,
  WebhookDeliveryPage,
  WebhookList,
} from "./responses.ts";
import { isDone, type Transport } from "./transport.ts";

/** Where a webhook sends, and which events. */
export interface WebhookSettings {
  /** An https address with a public host name and no port. */
  readonly url: string;
  readonly events: Webhook["events"];
  /** Balances in credits for `credits.low`; unchanged if omitted, none in a new webhook. */
  readonly thresholds?: readonly number[];
  /** `true` continues a paused webhook where it stopped; unchanged if omitted, true in a new webhook. */
  readonly active?: boolean;
  /** The version that you read. Omit it to create a webhook. */
  readonly version?: number;
  /** The reason in the audit log. */
  readonly reason?: string;
}

interface Reasoned extends WriteOptions {
  /** The reason in the audit log. */
  readonly reason?: string;
}

/** The webhooks of the app. Calls throw `PassbookError`. */
export interface Webhooks {
  list(options?: CallOptions): Promise<readonly Webhook[]>;
  /**
   * Creates a webhook, or changes the version that you read. Only the response that creates it has `secret`. Throws
   * `webhook_changed` if somebody else saved the webhook since, or a new webhook's id is used with other settings.
   */
  save(id: string, settings: WebhookSettings, options?: WriteOptions): Promise<SavedWebhook>;
  /** Deletes a webhook, and its events that were not delivered. */
  remove(id: string, options?: Reasoned): Promise<void>;
  /** Replaces the secret. For 24 hours each delivery carries a signature of the previous one too. */
  rotate(id: string, options?: Reasoned): Promise<RotatedSecret>;
  /** Sends a `ping` now, and tells how the receiver responded. */
  test(id: string, options?: Reasoned): Promise<TestedWebhook>;
  /** Events that wait to be delivered, one for each account at most. `failed`: only those that are not retried. */
  deliveries(
    id: string,
    filter?: {
      readonly status?: "pending" | "failed";
      readonly limit?: number;
      readonly cursor?: string;
    },
    options?: CallOptions,
  ): Promise<WebhookDeliveryPage>;
  /** What became of the last events of 7 days, at most 20: of one account, or of all, of whose successes it has about one a minute. */
  attempts(
    id: string,
    filter?: { readonly identity?: string },
    options?: CallOptions,
  ): Promise<readonly WebhookAttempt[]>;
  /** Sends the events of an account after this ledger entry again, or those of all accounts since a time, at most 7 days ago. */
  replay(
    id: string,
    from: ({ readonly identity: string; readonly afterLine: number } | { readonly since: Date }) & {
      readonly reason?: string;
    },
    options?: WriteOptions,
  ): Promise<void>;
}

/** `readSlug`: the app's slug. */
export function createWebhooks(
  transport: Transport,
  credentials: Credentials,
  readSlug: (options: CallOptions) => Promise<string>,
): Webhooks {
  const calls = createCalls(transport, credentials);
  const pathOf = async (options: CallOptions, id?: string, rest = ""): Promise<string> => {
    const base = `/api/admin/apps/${encodeURIComponent(await readSlug(options))}/webhooks`;
    return id === undefined ? base : `${base}/${encodeURIComponent(id)}${rest}`;
  };
  const post = async <Body extends object>(
    id: string,
    rest: string,
    body: object,
    isValid: (body: Body) => boolean,
    options: WriteOptions = {},
  ): Promise<Body> =>
    calls.write({ method: "POST", path: await pathOf(options, id, rest), body, isValid }, options);
  const isSecret = ({ secret }: { readonly secret: string | null }): boolean =>
    typeof secret === "string" || secret === null;
  return {
    async list(options = {}) {
      const isValid = ({ webhooks }: WebhookList): boolean => Array.isArray(webhooks);
      const path = await pathOf(options);
      return (await calls.read({ path, signal: options.signal, isValid })).webhooks;
    },
    async save(id, settings, options = {}) {
      const isValid = (saved: SavedWebhook): boolean =>
        typeof saved.webhook?.id === "string" && isSecret(saved);
      const path = await pathOf(options, id);
      return calls.write({ method: "PUT", path, body: settings, isValid }, options);
    },
    async remove(id, { reason, ...options } = {}) {
      const path = await pathOf(options, id);
      const query = { reason };
      await calls.write({ method: "DELETE", path, query, isValid: isDone }, options);
    },
    rotate: async (id, { reason, ...options } = {}) =>
      post<RotatedSecret>(id, "/rotate", { reason }, isSecret, options),
    test: async (id, { reason, ...options } = {}) => {
      const isValid = ({ duration_ms }: TestedWebhook): boolean => Number.isFinite(duration_ms);
      return post<TestedWebhook>(id, "/test", { reason }, isValid, options);
    },
    async deliveries(id, filter = {}, options = {}) {
      const isValid = ({ deliveries }: WebhookDeliveryPage): boolean => Array.isArray(deliveries);
      const path = await pathOf(options, id, "/deliveries");
      return calls.read({ path, query: filter, signal: options.signal, isValid });
    },
    async attempts(id, { identity } = {}, options = {}) {
      const isValid = ({ attempts }: WebhookAttemptList): boolean => Array.isArray(attempts);
      const path = await pathOf(options, id, "/attempts");
      const query = { identity_id: identity };
      return (await calls.read({ path, query, signal: options.signal, isValid })).attempts;
    },
    async replay(id, from, options = {}) {
      const { reason } = from;
      const body =
        "since" in from
          ? { since: from.since.toISOString(), reason }
          : { identity_id: from.identity, after_line: from.afterLine, reason };
      await post(id, "/replay", body, isDone, options);
    },
  };
}
