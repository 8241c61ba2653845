/** No query of an object with the waiting deliveries of a webhook reads more than 10,000 rows, however many wait. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { DeliveryStore } from "../../../src/webhooks/delivery_store.ts";
import { IS_SLOW_CHECK } from "../support/histories.ts";

const ROWS_READ_MAX = 10_000;
const DELIVERIES = IS_SLOW_CHECK ? 500_000 : 30_000;

it(
  "no query of the deliveries that wait reads more than 10,000 rows",
  { tags: ["history"] },
  async () => {
    await runInDurableObject(
      env.WEBHOOK_DELIVERIES.getByName("many"),
      (_, { storage: { sql } }) => {
        const most = new Map<string, number>();
        const exec = (query: string, ...values: SqlStorageValue[]) => {
          const rows = sql.exec(query, ...values);
          const found = rows.toArray();
          most.set(query, Math.max(rows.rowsRead, most.get(query) ?? 0));
          return { toArray: () => found };
        };
        const store = new DeliveryStore({ exec } as unknown as SqlStorage);
        sql.exec(
          `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${DELIVERIES})
        insert into deliveries select printf('user_%08d', i), i, 'job.completed', i, 1, 'pending', null, i, i from n`,
        );
        const from = { after_identity_id: "user_00000100", limit: 51 };
        expect(store.list({ ...from, status: null })).toHaveLength(51);
        expect(store.list({ ...from, status: "pending" })).toHaveLength(51);
        const none = { ...from, status: "failed" } as const;
        expect(store.list(none)).toEqual([]);
        expect(store.lastLookedAt(none)).toBe("user_00003100");
        expect(store.lastLookedAt({ ...none, after_identity_id: "user_9" })).toBeNull();
        // A page of all deliveries is full, or the last one.
        expect(store.lastLookedAt({ ...from, status: null })).toBeNull();
        expect(store.listDueBefore(DELIVERIES, 100)).toHaveLength(100);
        store.deleteOlder(DELIVERIES, 1_000);
        store.drop("user_00002000");
        store.dropUnchanged({ identity_id: "user_00003000", at_ms: 3_000 });
        expect(store.isEmpty).toBe(false);
        expect([...most].filter(([, rows]) => rows > ROWS_READ_MAX)).toEqual([]);
      },
    );
  },
);
