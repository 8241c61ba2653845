/**
 * The Worker as a bad release: its objects cannot reach the read model and throw when their alarm
 * rings. A door beside it tells of that alarm. Never deployed.
 */
import worker, { Account as AccountProper } from "../../src/worker.ts";

export { DeviceLogin, StarterBudget } from "../../src/worker.ts";

/** How often alarms rang in this process, over all its objects. */
let rung = 0;

export class Account extends AccountProper {
  constructor(ctx: DurableObjectState, env: Env) {
    const unreachable = new Proxy(env.DB, {
      get: () => () => {
        throw new Error("no way to D1 in this release");
      },
    });
    super(ctx, { ...env, DB: unreachable });
  }

  override alarm(): Promise<void> {
    rung += 1;
    throw new Error("a defect of this release");
  }

  async readAlarm(): Promise<{ rung: number; armed_at_ms: number | null }> {
    return { rung, armed_at_ms: await this.ctx.storage.getAlarm() };
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
