/** The credentials of an account's holder: allowances, and what ends with a session. */
import { accepted } from "../../domain/result.ts";
import * as personal_tokens from "../allowances/personal_tokens.ts";
import * as callers from "../caller.ts";
import type * as contract from "../contract.ts";
import { SERVICE, type Answer, type Caller } from "../contract.ts";
import { JobOperations } from "./jobs.ts";

export class AllowanceOperations extends JobOperations {
  checkCaller(caller: Caller): Answer<null> {
    return this.instance.transact(caller, "none", () => accepted(null));
  }

  checkOperator(caller: Caller): Answer<null> {
    return this.instance.transact(caller, "none", callers.checkAdmin);
  }

  checkRoomForPersonalToken(caller: Caller): Answer<null> {
    return this.instance.transact(caller, "write", personal_tokens.checkRoomForPersonalToken);
  }

  issuePersonalToken(caller: Caller, request: contract.IssuePersonalTokenRequest): Answer<null> {
    return this.instance.transact(caller, "write", (it) =>
      personal_tokens.issuePersonalToken(it, request),
    );
  }

  listPersonalTokens(caller: Caller): Answer<readonly contract.ListedPersonalToken[]> {
    return this.instance.transact(caller, "read", personal_tokens.listPersonalTokens);
  }

  /** Wants no right, because a token that may do nothing else may still end itself. */
  revokePersonalToken(caller: Caller, request: contract.RevokePersonalTokenRequest): Answer<null> {
    return this.instance.endTokens(caller, "none", (it) =>
      personal_tokens.revokePersonalToken(it, request),
    );
  }

  endSessions(session_ids: readonly string[] | "all"): Answer<null> {
    const answer = this.instance.endTokens(SERVICE, "write", (it) =>
      personal_tokens.endSessions(it, session_ids),
    );
    this.instance.parts?.streams.closeSessions(session_ids);
    return answer;
  }

  revokeApprovedBy(approver: contract.Approver): Answer<null> {
    return this.instance.endTokens(SERVICE, "write", (it) =>
      personal_tokens.revokeApprovedBy(it, approver),
    );
  }

  revokeAllPersonalTokens(): Answer<null> {
    return this.instance.endTokens(SERVICE, "write", personal_tokens.revokeAllPersonalTokens);
  }
}
