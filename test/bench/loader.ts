/** The parent's handle of the load process. */
import { fork, type ChildProcess } from "node:child_process";
import type { Burst, Outcome } from "./load.ts";

export class Loader {
  readonly #child: ChildProcess = fork(new URL("load.ts", import.meta.url), {
    serialization: "advanced",
  });

  /** Runs a burst. @throws Error if a response was not 200 */
  run(burst: Burst): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#child.once("message", (said: { outcome?: Outcome; failure?: string }) => {
        if (said.outcome !== undefined) resolve(said.outcome);
        else reject(new Error(`${burst.work}: ${said.failure ?? "no outcome"}`));
      });
      this.#child.send(burst);
    });
  }

  stop(): void {
    this.#child.kill();
  }
}
