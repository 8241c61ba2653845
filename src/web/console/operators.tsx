/** `GET /console/operators`: who may operate the service, and what each role may do. */
import { readOperators } from "../../http/api/admin/list_operators.ts";
import { factory } from "../../http/context.ts";
import { OperatorsPage } from "./operators_page.tsx";

export const showOperators = factory.createHandlers((context) => {
  const { support_credits_max } = context.get("services").config;
  const operators = readOperators(context);
  return context.html(<OperatorsPage {...{ operators, support_credits_max }} />);
});
