/**
 * The Worker as a bad release: its objects wait for the read model for ever, so that they never note a
 * debt, and throw when their alarm rings. A door beside it tells of that alarm. Never deployed.
 */
import worker, { Account as AccountProper } from "../../../src/worker.ts";

export { DeviceLogin, StarterBudget } from "../../../src/worker.ts";

/** How often each object's alarm rang in this process, whichever instance it had. */
const rung = new Map<string, number>();

/** A database that takes every call and never answers. */
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
    rung.set(this.#name(), (rung.get(this.#name()) ?? 0) + 1);
    throw new Error("a defect of this release");
  }

  async readAlarm(): Promise<{ rung: number; armed_at_ms: number | null }> {
    const armed_at_ms = await this.ctx.storage.getAlarm();
    return { rung: rung.get(this.#name()) ?? 0, armed_at_ms };
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
