/** `GET /account/security`: how the person signs in, and how they get back in without it. */
import { factory } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { noticeText } from "../layout/messages.ts";
import { defaultPasskeyName } from "../signin/passkey.tsx";
import { SecurityPage } from "./security_page.tsx";

export const showSecurity = factory.createHandlers(async (context) => {
  const { identity } = context.get("services");
  const person = await identity.readPerson(context.get("session").identity_id);
  if (person === null) return refuseWithPage(context, { code: "not_found" });
  return context.html(
    <SecurityPage
      person={person}
      methods={identity.sign_in_methods}
      new_passkey={identity.passkeys === null ? null : defaultPasskeyName(context)}
      notice={noticeText(context.req.query("notice"))}
    />,
  );
});
