/**
 * The mutants of a file: small changes of its code, each of which a test should notice. All of them are put into one text
 * of the file, where a switch chooses the one that is active.
 */
import { parseSync } from "vite";

export interface Mutant {
  /** From 1, in the order of the file. */
  readonly number: number;
  readonly line: number;
  /** The line where the change begins, without the spaces around it. */
  readonly source: string;
  /** `from → to`, each without line breaks. */
  readonly change: string;
  readonly start: number;
  readonly end: number;
  readonly to: string;
  /** Whether it is a statement that is guarded, or code that is put before one; else an expression. */
  readonly form: "expression" | "statement" | "entry";
}

/** A node of the syntax tree; its other fields depend on its type. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

type Found = Pick<Mutant, "start" | "end" | "to" | "form">;

const OTHER_OPERATORS: Readonly<Record<string, readonly string[]>> = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "===": ["!=="],
  "!==": ["==="],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
  "&&": ["||"],
  "||": ["&&"],
};
const OTHER_ASSIGNMENTS: Readonly<Record<string, string>> = { "+=": "-=", "-=": "+=" };
const OTHER_METHODS = new Map([
  ["some", "every"],
  ["every", "some"],
  ["min", "max"],
  ["max", "min"],
  ["findLast", "find"],
]);
/** Methods whose result is replaced by the value that they were called on. */
const DROPPED_METHODS = [
  "filter",
  "slice",
  "toSorted",
  "toReversed",
  "trim",
  "toLowerCase",
  "concat",
];
const FUNCTIONS = ["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"];
/** Calls with texts for people and for the log: their arguments have no mutants. */
const TEXTS = /^(?:log|logError|logWarning|console|assertInvariant|must)$/;

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

const nodeIn = (node: Node, field: string): Node | null => {
  const value = node[field];
  return isNode(value) ? value : null;
};

/** Without the parentheses, the casts and the `await` around it. */
function inside(node: Node): Node {
  const wrapped = ["ParenthesizedExpression", "AwaitExpression", "ChainExpression"];
  const inner = nodeIn(node, "expression") ?? nodeIn(node, "argument");
  return inner !== null && wrapped.includes(node.type) ? inside(inner) : node;
}

const isText = (node: Node | null): boolean =>
  node !== null &&
  (node.type === "TemplateLiteral" ||
    (node.type === "Literal" && typeof node["value"] === "string") ||
    (node.type === "BinaryExpression" &&
      (isText(nodeIn(node, "left")) || isText(nodeIn(node, "right")))));

/** The first name of what is called: `console` of `console.log`. */
function calledName(call: Node): string {
  let callee = nodeIn(call, "callee");
  while (callee?.type === "MemberExpression") callee = nodeIn(callee, "object");
  const name = callee?.["name"];
  return typeof name === "string" ? name : "";
}

class Finder {
  readonly found: Found[] = [];
  readonly #text: string;
  /** How many functions are around the node that is visited. */
  #functions = 0;

  constructor(text: string) {
    this.#text = text;
  }

  #add(node: Node, to: string, form: Found["form"] = "expression"): void {
    this.found.push({ start: node.start, end: node.end, to, form });
  }

  #textOf({ start, end }: { readonly start: number; readonly end: number }): string {
    return this.#text.slice(start, end);
  }

  /** `is_link`: whether the node is a link of a chain with `?.`, which parentheses would break. */
  visit(node: Node, is_link = false): void {
    const { type } = node;
    if (type.startsWith("TS")) {
      const expression = nodeIn(node, "expression");
      if (expression !== null) this.visit(expression, is_link);
      return;
    }
    if (type === "ThrowStatement" || type === "ImportDeclaration") return;
    if (!is_link) this.#mutate(node);
    if (type === "CallExpression" && TEXTS.test(calledName(node))) return;
    if (type === "NewExpression" && calledName(node).endsWith("Error")) return;
    const is_function = FUNCTIONS.includes(type);
    if (is_function) this.#functions += 1;
    for (const [field, value] of Object.entries(node)) {
      if (field === "key" && node["computed"] !== true) continue;
      if (field === "property" && node["computed"] !== true) continue;
      if (type === "SwitchCase" && field === "test") continue;
      const goes_on = type === "ChainExpression" || (is_link && /^(?:object|callee)$/.test(field));
      for (const part of Array.isArray(value) ? value : [value])
        if (isNode(part)) this.visit(part, goes_on);
    }
    if (is_function) this.#functions -= 1;
  }

  #mutate(node: Node): void {
    switch (node.type) {
      case "BinaryExpression":
      case "LogicalExpression":
        return this.#mutateOperator(node);
      case "UnaryExpression":
        if (node["operator"] === "!") this.#add(node, this.#textOf(node["argument"] as Node));
        return;
      case "AssignmentExpression": {
        const other = OTHER_ASSIGNMENTS[String(node["operator"])];
        const [left, right] = [nodeIn(node, "left"), nodeIn(node, "right")];
        if (other === undefined || left === null || right === null || isText(right)) return;
        return this.#add(node, `${this.#textOf(left)} ${other} ${this.#textOf(right)}`);
      }
      case "IfStatement":
      case "ConditionalExpression":
        return this.#mutateCondition(nodeIn(node, "test"));
      case "WhileStatement": {
        const test = nodeIn(node, "test");
        return test === null ? undefined : this.#add(test, "false");
      }
      case "Literal":
        return this.#mutateLiteral(node);
      case "CallExpression":
        return this.#mutateCall(node);
      case "ChainExpression": {
        const call = nodeIn(node, "expression");
        return call?.type === "CallExpression" ? this.#mutateCall(call) : undefined;
      }
      case "ExpressionStatement": {
        const call = inside(nodeIn(node, "expression") ?? node);
        if (call.type !== "CallExpression" || TEXTS.test(calledName(call))) return;
        if (nodeIn(call, "callee")?.type === "Super") return;
        return this.#add(node, "", "statement");
      }
      case "FunctionDeclaration":
      case "FunctionExpression":
      case "ArrowFunctionExpression":
        return this.#mutateFunction(node);
    }
  }

  #mutateOperator(node: Node): void {
    const [left, right] = [nodeIn(node, "left"), nodeIn(node, "right")];
    if (left === null || right === null) return;
    const operator = String(node["operator"]);
    if (operator === "??") return this.#add(node, this.#textOf(left));
    if (operator === "+" && (isText(left) || isText(right))) return;
    // A number such as 15 * 60_000.
    if (this.#functions === 0 && "+-*/%".includes(operator)) return;
    for (const other of OTHER_OPERATORS[operator] ?? [])
      this.#add(node, `${this.#textOf(left)} ${other} ${this.#textOf(right)}`);
    if (operator === "&&" || operator === "||") {
      this.#add(node, this.#textOf(left));
      this.#add(node, this.#textOf(right));
    }
  }

  #mutateCondition(test: Node | null): void {
    if (test === null) return;
    this.#add(test, "true");
    this.#add(test, "false");
  }

  #mutateLiteral(node: Node): void {
    const { value } = node as { readonly value?: unknown };
    if (typeof value === "boolean") this.#add(node, String(!value));
    // A number outside of functions is a decision, and a test of it would repeat it.
    if (typeof value !== "number" || this.#functions === 0) return;
    this.#add(node, String(value + 1));
    if (value >= 1) this.#add(node, String(value - 1));
  }

  #mutateCall(node: Node): void {
    const callee = nodeIn(node, "callee");
    const object = callee === null ? null : nodeIn(callee, "object");
    const name = callee === null ? null : nodeIn(callee, "property");
    if (callee?.type !== "MemberExpression" || object === null || name === null) return;
    const method = String(name["name"]);
    if (DROPPED_METHODS.includes(method)) this.#add(node, this.#textOf(object));
    const other = OTHER_METHODS.get(method);
    if (other === undefined) return;
    const [before, after] = [
      { start: node.start, end: name.start },
      { start: name.end, end: node.end },
    ];
    this.#add(node, `${this.#textOf(before)}${other}${this.#textOf(after)}`);
  }

  /** A function that returns nothing returns at once. */
  #mutateFunction(node: Node): void {
    const [type, body] = [nodeIn(node, "returnType"), nodeIn(node, "body")];
    if (type === null || body?.type !== "BlockStatement") return;
    if (!/^:\s*(?:void|Promise<void>)$/.test(this.#textOf(type))) return;
    const [first] = body["body"] as readonly Node[];
    if (first === undefined) return;
    this.found.push({ start: first.start, end: first.start, to: "return;", form: "entry" });
  }
}

/** A text in one line. */
const shown = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/** The mutants of a file, in its order. @throws if the text cannot be parsed. */
export function mutantsOf(file: string, text: string): readonly Mutant[] {
  const { program, errors } = parseSync(file, text);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${file} cannot be parsed: ${error.message}`);
  const finder = new Finder(text);
  finder.visit(program as unknown as Node);
  // What is around another mutant comes first, and what is put before a statement comes before it.
  const found = finder.found.toSorted(
    (one, other) =>
      one.start - other.start ||
      Number(other.form === "entry") - Number(one.form === "entry") ||
      other.end - one.end,
  );
  return found.map((mutant, at) => {
    const { start, end, form, to } = mutant;
    const begins = text.lastIndexOf("\n", start - 1) + 1;
    const ends = text.indexOf("\n", start);
    const source = text.slice(begins, ends === -1 ? text.length : ends).trim();
    const before = form === "entry" ? "first statement" : shown(text.slice(start, end));
    return {
      ...mutant,
      number: at + 1,
      line: text.slice(0, start).split("\n").length,
      source,
      change: `${before} → ${form === "statement" ? "nothing" : shown(to)}`,
    };
  });
}

/** The name of the switch in the text of a file. */
const SWITCH = "mutant__";

/**
 * The text of a file with all its mutants. `globalThis.mutants.active` is the number of the active one, and 0 for none.
 * While `globalThis.mutants.reached` is a set, it gets the numbers of the mutants whose place is reached.
 */
export function withMutants(text: string, mutants: readonly Mutant[]): string {
  const nested = [...mutants];
  const render = (start: number, end: number): string => {
    let out = "";
    let at = start;
    while (nested[0] !== undefined && nested[0].start < end && nested[0].end <= end) {
      const { start: from, end: to, form } = nested[0];
      out += text.slice(at, from);
      const same: Mutant[] = [];
      for (
        let next: Mutant | undefined = nested[0];
        next?.start === from && next.end === to && next.form === form;
      ) {
        same.push(next);
        nested.shift();
        next = nested[0];
      }
      const [first] = same as [Mutant];
      if (form === "entry") out += `if (${SWITCH}(${first.number})) return; `;
      else {
        const inner = render(from, to);
        if (form === "statement") out += `{ if (!${SWITCH}(${first.number})) ${inner} }`;
        else {
          const choices = same.map((it) => `${SWITCH}(${it.number}) ? (${it.to}) : `);
          out += `(${choices.join("")}(${inner}))`;
        }
      }
      at = to;
    }
    return out + text.slice(at, end);
  };
  return `${render(0, text.length)}
function ${SWITCH}(number: number): boolean {
  const { active, reached } = ((globalThis as unknown as { mutants?: { active: number; reached: Set<number> | null } }).mutants ??= { active: 0, reached: null });
  reached?.add(number);
  return active === number;
}
`;
}
