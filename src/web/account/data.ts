/** `GET /account/data.json`: everything that is stored about the signed-in person, as a download. Also if suspended. */
import { finishAccountDeletion } from "../../http/caller/deleted_account.ts";
import { factory } from "../../http/context.ts";
import { respondWithPersonData } from "../../http/person_data.ts";

export const downloadData = factory.createHandlers(async (context) => {
  const { identity_id } = context.get("session");
  const { accounts } = context.get("services");
  if (await accounts(identity_id).isDeleted()) {
    return finishAccountDeletion(context, identity_id, null);
  }
  return respondWithPersonData(context, identity_id, "my-data.json");
});
