/** The wallet, jobs and the ledger of an account. */
import { accepted } from "../../domain/result.ts";
import type { ApprovalRequest } from "../../domain/job_approval.ts";
import { decideApproval, readApproval } from "../approvals/approvals.ts";
import * as callers from "../caller.ts";
import type * as contract from "../contract.ts";
import type { Answer, Caller, OnceAnswer } from "../contract.ts";
import { onceInJob } from "../idempotency/job_keys.ts";
import { WHOLE } from "../idempotency/responses.ts";
import * as batches from "../jobs/batches.ts";
import { createJob } from "../jobs/create.ts";
import { readJobHistory } from "../jobs/history.ts";
import { reportProgress } from "../jobs/progress.ts";
import * as jobs from "../jobs/settle.ts";
import { listEntries } from "../ledger/entries.ts";
import { startedJobsOf } from "../ledger/started_jobs.ts";
import { readStatement } from "../ledger/statement.ts";
import { readStatementRows } from "../ledger/statement_rows.ts";
import { readOverview } from "../overview.ts";
import {
  firstSeenLine,
  setAppAccess,
  withCreditsFor,
  withCreditsForAll,
} from "../wallet/app_access.ts";
import { readProfile, readWallet } from "../wallet/wallet.ts";
import { AccountBase } from "./base.ts";

type Guard = contract.IdempotencyGuard | null;

export class JobOperations extends AccountBase {
  wallet(caller: Caller, request: contract.WalletRequest): Answer<contract.Wallet> {
    return this.instance.transact(caller, "read", (it) => readWallet(it, request));
  }

  readProfile(caller: Caller): Answer<contract.Profile> {
    return this.instance.transact(caller, "read", readProfile);
  }

  setAppAccess(caller: Caller, slug: string, access: "open" | "disconnected"): Answer<null> {
    return this.instance.transact(caller, "write", (it) => setAppAccess(it, slug, access));
  }

  createJob(
    caller: Caller,
    request: contract.CreateJobRequest,
    guard: Guard,
  ): OnceAnswer<contract.CreatedJob> {
    const stored = { endpoint: "jobs.create", form: WHOLE };
    return this.instance.transactOnce(caller, "write", guard, stored, (it) =>
      createJob(it, request),
    );
  }

  createJobs(
    caller: Caller,
    requests: readonly contract.CreateJobRequest[],
    guard: Guard,
  ): OnceAnswer<contract.Batch<contract.CreatedJob>> {
    const stored = { endpoint: "jobs.create.batch", form: batches.CREATED_FORM };
    return this.instance.transactOnce(caller, "write", guard, stored, (it) =>
      batches.createJobs(it, requests),
    );
  }

  completeJob(
    caller: Caller,
    request: contract.CompleteJobRequest,
    guard: Guard,
  ): OnceAnswer<contract.SettledJob> {
    const settled = { job_id: request.job_id, status: "completed" } as const;
    return this.instance.transact(caller, "settle", (it) =>
      withCreditsFor(
        it,
        onceInJob(it, guard, settled, (keyed) => jobs.completeJob(it, request, keyed)),
      ),
    );
  }

  completeJobs(
    caller: Caller,
    requests: readonly contract.CompleteJobRequest[],
    guard: Guard,
  ): OnceAnswer<contract.Batch<contract.SettledJob>> {
    const stored = { endpoint: "jobs.complete.batch", form: batches.SETTLED_FORM };
    return this.instance.transact(caller, "settle", (it, { responses }) =>
      withCreditsForAll(
        it,
        responses.once(it, guard, stored, () => batches.completeJobs(it, requests)),
      ),
    );
  }

  failJob(
    caller: Caller,
    request: contract.FailJobRequest,
    guard: Guard,
  ): OnceAnswer<contract.SettledJob> {
    const settled = { job_id: request.job_id, status: "failed" } as const;
    return this.instance.transact(caller, "settle", (it) =>
      withCreditsFor(
        it,
        onceInJob(it, guard, settled, (keyed) => jobs.failJob(it, request, keyed)),
      ),
    );
  }

  reportProgress(
    caller: Caller,
    request: contract.ProgressRequest,
  ): OnceAnswer<contract.ProgressedJob> {
    return this.instance.transact(caller, "settle", (it) =>
      withCreditsFor(it, reportProgress(it, request)),
    );
  }

  readApproval(caller: Caller, request: ApprovalRequest): Answer<contract.ShownApproval> {
    return this.instance.transact(caller, "read", (it) => readApproval(it, request));
  }

  decideApproval(caller: Caller, request: ApprovalRequest, is_approved: boolean): Answer<null> {
    return this.instance.transact(caller, "write", (it) =>
      decideApproval(it, request, is_approved),
    );
  }

  cancelJob(caller: Caller, request: contract.CancelJobRequest): Answer<contract.SettledJob> {
    return this.instance.transact(caller, "write", (it) => jobs.cancelJob(it, request));
  }

  readJob(caller: Caller, job_id: string): Answer<contract.JobRow> {
    return this.instance.transact(caller, "follow", (it) => jobs.readJob(it, job_id));
  }

  listJobs(
    caller: Caller,
    request: contract.ListJobsRequest,
  ): Answer<contract.Page<contract.JobRow, string>> {
    return this.instance.transact(caller, "read", (it, { listJobs }) => {
      const { recent_after_job_id } = startedJobsOf(it.store.readNewestEntry());
      const filter = { ...request, visible_apps: callers.visibleApps(it) };
      return accepted(listJobs(filter, recent_after_job_id));
    });
  }

  listEntries(
    caller: Caller,
    request: contract.ListEntriesRequest,
  ): Answer<contract.Page<contract.EntryRow, number>> {
    return this.instance.transact(caller, "read", (it, { database }) => {
      const visible = { visible_apps: callers.visibleApps(it), first_line: firstSeenLine(it) };
      return accepted(listEntries(database, { ...request, ...visible }));
    });
  }

  readOverview(caller: Caller, request: contract.OverviewRequest): Answer<contract.Overview> {
    return this.instance.transact(caller, "read", (it, { database, listJobs }) =>
      readOverview(database, listJobs, it, request),
    );
  }

  readStatement(caller: Caller, request: contract.StatementRequest): Answer<contract.Statement> {
    return this.instance.transact(caller, "read", (it, { database }) =>
      readStatement(database, it, request),
    );
  }

  readJobHistory(caller: Caller, job_id: string): Answer<contract.JobHistory> {
    return this.instance.transact(caller, "read", (it) => readJobHistory(it, job_id));
  }

  readStatementRows(
    caller: Caller,
    request: contract.StatementRowsRequest,
  ): Answer<contract.StatementRows> {
    return this.instance.transact(caller, "read", (it, { database }) =>
      readStatementRows(database, it, request),
    );
  }
}
