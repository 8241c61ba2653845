/** Values of an attacker, for every place that takes a value. */
import * as fc from "fast-check";

/** In every value, so that a test finds where it went. */
export const MARK = "h0st1le";

/** Runs if a page shows it unescaped. */
export const SCRIPT = `<script>${MARK}()</script>`;

const TEXTS = [
  `"'>${SCRIPT}`,
  `${MARK}\r\nSet-Cookie: ${MARK}=1`,
  `${MARK}\u0000\u0007\u202e\ud800`,
  `'; drop table apps; -- ${MARK}`,
  `javascript:${MARK}()`,
  `//${MARK}.example/`,
  `https://${MARK}.example/?a=1&b=2#c`,
  `\\\\${MARK}.example\\`,
  `http://127.0.0.1/${MARK}`,
  `%00%0d%0a%3c${MARK}%ff%`,
  `${MARK}@example.com`,
  `../../${MARK}`,
  `Bearer ${MARK}`,
  `\${${MARK}}{{${MARK}}}`,
];

const PLAIN = ["", " ", "__proto__", "constructor", "null", "-1", "1e400", "9007199254740993"];

/** These events of the log quote a stranger on purpose: an origin, and what is wrong with a public document. */
const QUOTING = /"event":"(origin_refused|client_document_refused)"/;

/** This one names the id and the type of a genuine event, of these characters only. */
const NAMING =
  /^\{"event":"payment_event_dropped","reason":"\w+","stripe_event_id":"\w{1,255}","type":"[\w.]{1,100}","payment_intent_id":(null|"pi_\w{1,250}")\}$/;

/** Whether a line of the log has the mark, and should not. */
export function isInLog(lines: readonly string[]): boolean {
  return lines.some((line) => line.includes(MARK) && !QUOTING.test(line) && !NAMING.test(line));
}

/** Text, mostly with the mark. `longest`: of the long ones, in characters. */
export function hostileText(longest = 20_000): fc.Arbitrary<string> {
  const part = fc.constantFrom(MARK, "%41", "=", "&", ";", ",", ".", "[", "{", "ä", "\u0301");
  const long = fc
    .tuple(part, fc.integer({ min: 1, max: longest }))
    .map(([text, length]) => text.repeat(Math.ceil(length / text.length)).slice(0, length));
  return fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...TEXTS) },
    { weight: 2, arbitrary: fc.constantFrom(...PLAIN) },
    { weight: 2, arbitrary: fc.string({ unit: "grapheme", maxLength: 60 }) },
    { weight: 1, arbitrary: long },
  );
}

/** Text that a header may have. */
export const hostileHeader: fc.Arbitrary<string> = hostileText(8_000).map((text) =>
  text.replaceAll(/[^ -~]/g, "?").trim(),
);

/** A value in JSON. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: hostileText(5_000) },
  fc.constantFrom(null, true, -1, 0.5, 1e21, 2 ** 53, [], {}, [[]], { __proto__: null, a: {} }),
  fc.jsonValue({ maxDepth: 3 }),
  fc.integer({ min: 1, max: 2_000 }).map((levels) => deep(levels)),
);

function deep(levels: number): unknown {
  let value: unknown = MARK;
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value;
}

type Path = readonly string[];

/** Deeper places are not changed: a deep value is hostile as it is. */
const DEPTH_MAX = 12;

/** The places of all values inside a value. */
function pathsOf(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== "object" || value === null || path.length > DEPTH_MAX) return [path];
  const inside = Object.entries(value).flatMap(([name, it]) => pathsOf(it, [...path, name]));
  return [path, ...inside];
}

function withValue(value: unknown, [name, ...rest]: Path, other: unknown): unknown {
  if (name === undefined) return other;
  const changed = Object.assign(Array.isArray(value) ? [] : {}, value) as Record<string, unknown>;
  changed[name] = withValue(changed[name], rest, other);
  return changed;
}

/** A change of a valid value: any of its parts is replaced, whatever the value is. */
export type Change = (value: unknown) => unknown;

export const hostileChange: fc.Arbitrary<Change> = fc
  .array(fc.tuple(fc.nat(), hostileValue), { minLength: 1, maxLength: 3 })
  .map((changes) => (value: unknown) => {
    let changed = value;
    for (const [which, other] of changes) {
      const paths = pathsOf(changed);
      changed = withValue(changed, paths[which % paths.length] ?? [], other);
    }
    return changed;
  });
