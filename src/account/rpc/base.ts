/**
 * The Account object's class is a chain of classes, one for each subject of the contract: this one, those next to it,
 * and `object.ts`, which the platform constructs.
 */
import { DurableObject } from "cloudflare:workers";
import { Instance } from "../instance.ts";

export class AccountBase extends DurableObject<Env> {
  /** RPC reaches the prototype's members only, so it does not reach this one. */
  protected readonly instance: Instance;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.instance = new Instance(ctx, env);
  }
}
