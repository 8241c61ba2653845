/**
 * The Worker with two extra endpoints for tests in another process: one stores tokens in the vault as a sign-in does,
 * the other expires them. Never deployed.
 */
import worker, { Account as AccountProper } from "../../../../src/worker.ts";
import { servicesFor } from "../../../../src/services.ts";

export {
  DeviceLogin,
  StarterBudget,
  WebhookDeliveries,
  WebhookSender,
} from "../../../../src/worker.ts";

export class Account extends AccountProper {
  expireTokens(): void {
    const past_ms = Date.now() - 1;
    this.ctx.storage.sql.exec("UPDATE upstream_tokens SET expires_at_ms = ?", past_ms);
  }
}

export default {
  async fetch(request: Request, env: Env, context: ExecutionContext): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const identity_id = searchParams.get("identity_id") ?? "";
    if (pathname === "/test/keep") {
      const services = servicesFor(env);
      if (!services.ok) return new Response("misconfigured", { status: 500 });
      await services.value.vault.keep(identity_id, await request.json());
      return new Response("kept");
    }
    if (pathname === "/test/run-out") {
      const accounts = env.ACCOUNT as unknown as DurableObjectNamespace<Account>;
      await accounts.getByName(identity_id).expireTokens();
      return new Response("run out");
    }
    return worker.fetch(request, env, context);
  },
};
