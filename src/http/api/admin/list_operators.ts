/** `GET /api/admin/operators`: the entries of `OPERATORS` with their roles. */
import { operatorName, whyUnmatchable } from "../../../domain/operators.ts";
import { factory, type AppContext } from "../../context.ts";

export function readOperators(context: AppContext) {
  const { operators, signin_options } = context.get("services").config;
  return operators.map((operator) => ({
    entry: operatorName(operator),
    role: operator.role,
    problem: whyUnmatchable(operator, signin_options),
  }));
}

export const listOperators = factory.createHandlers((context) =>
  context.json({ operators: readOperators(context) }),
);
