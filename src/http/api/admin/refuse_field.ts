/** The refusal of a body that its schema accepts, and a rule of its record does not. */
import type { FieldProblem } from "../../../operator/save_record.ts";
import type { AppContext } from "../../context.ts";
import { refuse } from "../../refusals.ts";

export function refuseField(context: AppContext, { path, message }: FieldProblem): Response {
  return refuse(context, { code: "invalid_request", detail: `${path.join(".")} ${message}.` });
}
