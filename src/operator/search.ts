/**
 * Finds whatever an operator has in hand: the id of a job, payment, account, identity, app, client or request, or the start
 * of an e-mail address. Each kind is looked up by a key or an index.
 */
import * as z from "zod/mini";
import { isRegisteredClientId, splitClientId } from "../domain/oauth_client.ts";
import { errorName } from "../domain/result.ts";
import { timestamp } from "../domain/wire.ts";
import { queryText } from "../fields.ts";
import type { OperatorServices } from "./acting.ts";

/** Longest text of a search, in UTF-16 code units: a payment's or a client's id is the longest. */
const SEARCH_MAX_LENGTH = 254;

/** Hits of one kind. A longer text narrows the search. */
const HITS_MAX = 20;

/** Apps among which a name is looked for: more than any deployment registers. */
const APPS_READ_MAX = 1_000;

export const searchQuery = z.object({
  q: z.optional(
    queryText.check(
      z.trim(),
      z.maxLength(SEARCH_MAX_LENGTH, `must be at most ${SEARCH_MAX_LENGTH} characters`),
    ),
  ),
});

/** What was found. `name`: the action of a job, or the name of an app or client. */
export type Hit =
  | { readonly kind: "account"; readonly identity_id: string }
  | {
      readonly kind: "job";
      readonly identity_id: string;
      readonly id: string;
      readonly name: string;
    }
  | { readonly kind: "payment"; readonly identity_id: string; readonly id: string }
  | { readonly kind: "app"; readonly slug: string; readonly name: string }
  | { readonly kind: "client"; readonly slug: string; readonly id: string; readonly name: string }
  | {
      readonly kind: "act";
      readonly request_id: string;
      readonly act: string;
      readonly subject: string;
      readonly at: string;
    };

/** `incomplete`: kinds that could not be looked up now, because a database or the payment service did not respond. */
export interface Found {
  readonly hits: readonly Hit[];
  readonly incomplete: readonly string[];
}

type Look = (services: OperatorServices, text: string) => Promise<readonly Hit[]>;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const PAYMENT = /^(pi|cs)_\w{1,250}$/;

const LOOKS: Readonly<Record<string, Look>> = {
  async accounts({ identity, read_model }, text) {
    const people = await identity.findByEmail(text, HITS_MAX);
    const only = { id: text.toLowerCase(), identity_ids: [text, ...people] };
    const found = await read_model.findAccounts({
      only,
      sort: "created",
      order: "desc",
      limit: HITS_MAX,
    });
    const with_account = found.accounts.map(({ identity_id }) => identity_id);
    // A person without an account, or one that the read model does not have yet, is found too.
    const known = await identity.readPeople([text]);
    const all = new Set([...with_account, ...people, ...known.keys()]);
    return [...all].slice(0, HITS_MAX).map((identity_id) => ({ kind: "account", identity_id }));
  },
  async jobs({ read_model }, text) {
    const id = text.toLowerCase();
    if (!UUID.test(id)) return [];
    const job = await read_model.findJob(id);
    return job === null
      ? []
      : [{ kind: "job", id, identity_id: job.identity_id, name: job.action }];
  },
  async payments({ payments }, text) {
    if (payments === null || !PAYMENT.test(text)) return [];
    const buyer = await payments.findBuyer(text);
    // An id that the payment service does not know is refused by it.
    if (!buyer.ok && buyer.refusal.code === "payments_unavailable") throw new Unreachable();
    if (!buyer.ok || buyer.value === null) return [];
    return [{ kind: "payment", id: text, identity_id: buyer.value }];
  },
  async apps({ app_records }, text) {
    const wanted = text.toLowerCase();
    const apps = await app_records.list({ limit: APPS_READ_MAX });
    const exact = apps.filter(({ slug }) => slug === wanted);
    const named = apps.filter(
      ({ slug, name }) => slug.startsWith(wanted) || name.toLowerCase().startsWith(wanted),
    );
    const found = exact.length > 0 ? exact : named;
    return found.slice(0, HITS_MAX).map(({ slug, name }) => ({ kind: "app", slug, name }));
  },
  async clients({ oauth_records }, text) {
    if (!isRegisteredClientId(text)) return [];
    const client = await oauth_records.findClient(splitClientId(text));
    if (client === null) return [];
    return [{ kind: "client", slug: client.app_slug, id: text, name: client.name }];
  },
  async acts({ audit }, text) {
    const { entries: acts } = await audit.list({ request_id: text, limit: HITS_MAX });
    return acts.map(({ request_id, act, subject, at_ms }) => ({
      kind: "act",
      request_id,
      act,
      subject,
      at: timestamp(at_ms),
    }));
  },
};

class Unreachable extends Error {
  override readonly name = "payment_service_unavailable";
}

/** Looks for a text among everything that has an id. An e-mail address may be incomplete. */
export async function search(services: OperatorServices, text: string): Promise<Found> {
  if (text === "") return { hits: [], incomplete: [] };
  const looks = Object.entries(LOOKS);
  const found = await Promise.allSettled(looks.map(([, look]) => look(services, text)));
  const incomplete = looks.flatMap(([name], at) =>
    found[at]?.status === "rejected" ? [name] : [],
  );
  for (const result of found) {
    if (result.status === "fulfilled") continue;
    console.warn({ event: "search_incomplete", reason: errorName(result.reason) });
  }
  return {
    hits: found.flatMap((result) => (result.status === "fulfilled" ? result.value : [])),
    incomplete,
  };
}
