/** Handing out a third party's token: to a caller whose session still lives, and nobody else. */
import { callerOf, factory, type AppContext } from "../../context.ts";
import type { SessionProof } from "../../../domain/proof.ts";
import { refuse } from "../../refusals.ts";
import { isAppGivenProvider, isOperatorsOrigin } from "./upstream_origin.ts";

/** Provider ids as the settings allow them; another word is held for nobody, and asks no store. */
const PROVIDER_ID = /^[a-z0-9][a-z0-9-]{0,31}$/;

/**
 * Requires that the session behind the caller's token has not been ended. Elsewhere a session JWT
 * works until it runs out; someone else's credential is worth the look.
 */
export const requireLiveSession = factory.createMiddleware(async (context, next) => {
  const { proof, identity_id } = context.get("principal");
  const { identity } = context.get("services");
  // A personal access token's life is looked at where the token is handed out, in the account itself.
  if (proof.kind === "personal_token") return next();
  if (proof.kind === "app") return refuse(context, { code: "scope", reason: "app_key" });
  if (await identity.sessionIsAlive(proof.session_id, identity_id)) return next();
  return refuse(context, {
    code: "unauthorized",
    detail: "The session behind this token has ended. Sign in again.",
  });
});

async function mayHave(
  context: AppContext,
  proof: SessionProof,
  provider: string,
): Promise<boolean> {
  return (await isOperatorsOrigin(context, proof)) || isAppGivenProvider(context, proof, provider);
}

/** Answers `{ token }` for a provider, or why there is none; null: no provider is meant. */
export async function handOut(context: AppContext, provider: string | null): Promise<Response> {
  if (provider === null || !PROVIDER_ID.test(provider)) {
    return refuse(context, { code: "token_not_found" });
  }
  const { identity_id, proof } = context.get("principal");
  if (proof.kind === "session" && !(await mayHave(context, proof, provider))) {
    return refuse(context, { code: "scope", reason: "upstream_origin" });
  }
  const answer = await context.get("services").vault.read(identity_id, callerOf(context), provider);
  if (!answer.ok) return refuse(context, answer.refusal);
  return context.json({ token: answer.value.token });
}
