/** `GET /account`: the signed-in person's own page. */
import { AccountPage } from "../../pages/account.tsx";
import { readNotice } from "../../pages/words.ts";
import { factory } from "../context.ts";
import { refuseWithPage } from "../problem.tsx";

export const showAccount = factory.createHandlers(async (context) => {
  const { identity, accounts } = context.get("services");
  const { identity_id } = context.get("session");
  const [person, wallet] = await Promise.all([
    identity.readPerson(identity_id),
    accounts(identity_id).wallet({ token_id: null }, { app: null }),
  ]);
  if (!wallet.ok) return refuseWithPage(context, wallet.refusal);
  if (person === null) return refuseWithPage(context, { code: "not_found" });
  const notice = readNotice(context.req.query("notice"));
  const { account } = wallet.value;
  return context.html(
    <AccountPage
      person={person}
      account={account}
      methods={identity.sign_in_methods}
      notice={notice}
    />,
  );
});
