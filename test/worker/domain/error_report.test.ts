import { describe, expect, it } from "vitest";
import { reportError } from "../../../src/domain/error_report.ts";

function errorWith(stack: string, message = "card 4242"): Error {
  return Object.assign(new TypeError(message), { stack });
}

describe("the report of an unexpected error", () => {
  it("a report has the kind of the error and its places in the code, innermost first", () => {
    const stack = `TypeError: card 4242
    at settle (worker.js:3:14)
    at async Object.fetch (file:///srv/worker.js:10:10111)
    at new Instance (worker.js:1:2)
    at async worker.js:3:9014`;
    expect(reportError(errorWith(stack))).toEqual({
      reason: "TypeError",
      stack: [
        "at settle (worker.js:3:14)",
        "at async Object.fetch (file:///srv/worker.js:10:10111)",
        "at new Instance (worker.js:1:2)",
        "at async worker.js:3:9014",
      ],
    });
  });

  it("a report contains nothing of the message, even if the message looks like places in the code", () => {
    const message = "card 4242\n    at secret (card.js:4:2)\n    at 4242";
    const thrown = errorWith(`TypeError: ${message}\n    at settle (worker.js:3:14)`, message);
    expect(reportError(thrown).stack).toEqual(["at settle (worker.js:3:14)"]);
    // The message changed after the stack was recorded.
    const changed = errorWith(
      "TypeError: card 4242 of Ada\n    at settle (worker.js:3:14)",
      "other",
    );
    expect(reportError(changed).stack).toEqual(["at settle (worker.js:3:14)"]);
    const long = errorWith("TypeError: 4242\n    at settle (worker.js:3:14)", "x".repeat(99));
    expect(reportError(long).stack).toEqual(["at settle (worker.js:3:14)"]);
    const nameless = errorWith(`${message}\n    at settle (worker.js:3:14)`, message);
    expect(reportError(nameless).stack).toEqual(["at settle (worker.js:3:14)"]);
    const short = "\n    at secret (card.js:4:2)";
    const named = errorWith(`${"E".repeat(99)}: ${short}\n    at settle (worker.js:3:14)`, short);
    expect(reportError(named).stack).toEqual(["at settle (worker.js:3:14)"]);
    expect(reportError("a thrown text")).toEqual({ reason: "string", stack: [] });
    const like = { message: "", stack: "    at settle (worker.js:3:14)" };
    expect(reportError(like)).toEqual({ reason: "object", stack: [] });
  });

  it("a report has at most twelve places", () => {
    const frames = Array.from({ length: 13 }, (_, at) => `    at settle (worker.js:${at}:1)`);
    const { stack } = reportError(errorWith(`TypeError: card 4242\n${frames.join("\n")}`));
    expect(stack).toEqual(frames.slice(0, 12).map((frame) => frame.trim()));
  });
});
