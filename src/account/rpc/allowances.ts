/** The credentials of an account's holder: allowances, and what ends with a session. */
import { accepted } from "../../domain/result.ts";
import * as allowances from "../allowances/allowances.ts";
import { clientIdsOf } from "../allowances/credentials.ts";
import * as callers from "../caller.ts";
import type * as contract from "../contract.ts";
import { SERVICE, type Answer, type Caller } from "../contract.ts";
import { JobOperations } from "./jobs.ts";

export class AllowanceOperations extends JobOperations {
  checkCaller(caller: Caller): Answer<readonly string[]> {
    return this.instance.transact(caller, "none", (it) => {
      const acting = callers.actingAllowance(it);
      return accepted(acting === null ? [] : clientIdsOf(it.allowances, acting));
    });
  }

  checkOperator(caller: Caller): Answer<null> {
    return this.instance.transact(caller, "none", callers.checkAdmin);
  }

  checkRoomForAllowance(caller: Caller): Answer<null> {
    return this.instance.transact(caller, "write", allowances.checkRoomForAllowance);
  }

  issueAllowance(caller: Caller, request: contract.IssueAllowanceRequest): Answer<null> {
    return this.instance.transact(caller, "write", (it) => allowances.issueAllowance(it, request));
  }

  listAllowances(caller: Caller): Answer<readonly contract.ListedAllowance[]> {
    return this.instance.transact(caller, "read", allowances.listAllowances);
  }

  changeAllowance(
    caller: Caller,
    request: contract.ChangeAllowanceRequest,
  ): Answer<contract.ListedAllowance> {
    return this.instance.transact(caller, "write", (it) => allowances.changeAllowance(it, request));
  }

  /** Wants no right, because a token that may do nothing else may still end itself. */
  revokeAllowance(caller: Caller, request: contract.RevokeAllowanceRequest): Answer<null> {
    return this.instance.endTokens(caller, "none", (it) => allowances.revokeAllowance(it, request));
  }

  endSessions(session_ids: readonly string[] | "all"): Answer<null> {
    const answer = this.instance.endTokens(SERVICE, "write", (it) =>
      allowances.endSessions(it, session_ids),
    );
    this.instance.parts?.streams.closeSessions(session_ids);
    return answer;
  }

  revokeApprovedBy(approver: contract.Approver): Answer<null> {
    return this.instance.endTokens(SERVICE, "write", (it) =>
      allowances.revokeApprovedBy(it, approver),
    );
  }

  revokeAllAllowances(): Answer<null> {
    return this.instance.endTokens(SERVICE, "write", allowances.revokeAllAllowances);
  }
}
