/**
 * A bad release of the Worker: its objects wait forever for the read model, so they never store a debt, and their alarm
 * handler throws. An extra endpoint returns the number of runs of that handler. Never deployed.
 */
import worker, { Account as AccountProper } from "../../../src/worker.ts";

export {
  DeviceLogin,
  StarterBudget,
  WebhookDeliveries,
  WebhookSender,
} from "../../../src/worker.ts";

/** Runs of each object's alarm handler in this process, over all instances of the object. */
const alarm_runs = new Map<string, number>();

/** A database that accepts every call and never responds. */
function silent(): D1Database {
  const never: unknown = new Proxy(() => undefined, {
    get: (_, name) => (name === "then" ? () => undefined : never),
    apply: () => never,
  });
  return never as D1Database;
}

export class Account extends AccountProper {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, { ...env, DB: silent() });
  }

  override alarm(): Promise<void> {
    alarm_runs.set(this.#name(), (alarm_runs.get(this.#name()) ?? 0) + 1);
    throw new Error("a defect of this release");
  }

  async readAlarm(): Promise<{ runs: number; armed_at_ms: number | null }> {
    const armed_at_ms = await this.ctx.storage.getAlarm();
    return { runs: alarm_runs.get(this.#name()) ?? 0, armed_at_ms };
  }

  #name(): string {
    return this.ctx.id.name ?? "";
  }
}

export default {
  async fetch(request: Request, env: Env, context: ExecutionContext): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname !== "/test/alarm") return worker.fetch(request, env, context);
    const accounts = env.ACCOUNT as unknown as DurableObjectNamespace<Account>;
    const account = accounts.getByName(searchParams.get("identity_id") ?? "");
    return Response.json(await account.readAlarm());
  },
};
