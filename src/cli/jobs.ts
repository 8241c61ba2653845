/** `passbook jobs fail` and `passbook jobs cancel`. */
import { print } from "./output.ts";
import { signedIn, type GlobalOptions } from "./session.ts";

export interface FailOptions extends GlobalOptions {
  readonly reason?: string;
  readonly refund: boolean;
}

export async function failJob(
  jobId: string,
  { reason, refund, ...options }: FailOptions,
): Promise<void> {
  const given = reason === undefined ? {} : { reason };
  const failed = await (await signedIn(options)).jobs.fail({ jobId, refund, ...given });
  print(options, failed, () => {
    const { actual_cost } = failed.job;
    const cost = actual_cost === 0 ? "nothing was charged" : `${actual_cost} credits were kept`;
    return `Failed; ${cost}. The balance is ${failed.credits} credits.`;
  });
}

export async function cancelJob(jobId: string, options: GlobalOptions): Promise<void> {
  const cancelled = await (await signedIn(options)).jobs.cancel(jobId);
  print(options, cancelled, () => {
    const { actual_cost } = cancelled.job;
    const cost = actual_cost === 0 ? "nothing was charged" : `${actual_cost} credits were kept`;
    return `Cancelled; ${cost}. The balance is ${cancelled.credits} credits.`;
  });
}
