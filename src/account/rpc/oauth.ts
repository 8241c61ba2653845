/** The OAuth server's part of an account. */
import type { GrantProblem } from "../../domain/token_family.ts";
import type * as contract from "../contract.ts";
import { SERVICE, type Answer, type Caller } from "../contract.ts";
import * as connections from "../oauth/connect.ts";
import { exchange } from "../oauth/exchange.ts";
import * as families from "../oauth/families.ts";
import { AllowanceOperations } from "./allowances.ts";

export class OAuthOperations extends AllowanceOperations {
  findConnection(
    caller: Caller,
    request: contract.FindConnectionRequest,
  ): Answer<contract.Connection | null> {
    return this.instance.transact(caller, "read", (it) => connections.findConnection(it, request));
  }

  connectClient(
    caller: Caller,
    request: contract.ConnectRequest,
  ): Answer<contract.Connected | null> {
    return this.instance.transact(caller, "write", (it) => connections.connect(it, request));
  }

  redeemCode(request: contract.RedeemCodeRequest): Answer<contract.Granted> {
    return this.instance.endTokens(SERVICE, "write", (it) => families.redeemCode(it, request));
  }

  refreshFamily(request: contract.RefreshRequest): Answer<contract.Granted> {
    return this.instance.endTokens(SERVICE, "write", (it) => families.refresh(it, request));
  }

  /** Wants no right, because the new token gets no right that the caller lacks. */
  exchange(caller: Caller, request: contract.ExchangeRequest): Answer<contract.Exchanged> {
    return this.instance.endTokens(caller, "none", (it) => exchange(it, request));
  }

  endGrant(request: contract.EndGrantRequest): Answer<GrantProblem | null> {
    return this.instance.endTokens(SERVICE, "none", (it) => families.endGrant(it, request));
  }
}
