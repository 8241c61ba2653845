/** The entries of `OPERATORS` with their roles. */
import { operatorName, whyUnmatchable } from "../domain/operators.ts";
import type { OperatorServices } from "./acting.ts";

export function readOperators({ config: { operators, signin_options } }: OperatorServices) {
  return operators.map((operator) => ({
    entry: operatorName(operator),
    role: operator.role,
    problem: whyUnmatchable(operator, signin_options),
  }));
}
