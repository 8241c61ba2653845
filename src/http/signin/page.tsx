/** `GET /signin[?redirect_to=]`: the sign-in page. */
import { SignInPage } from "../../pages/signin.tsx";
import { factory } from "../context.ts";
import { allowedRedirect } from "../origins.ts";
import { refuse } from "../refusals.ts";

export const showSignIn = factory.createHandlers(async (context) => {
  const redirect_to = context.req.query("redirect_to");
  const target = redirect_to === undefined ? null : await allowedRedirect(context, redirect_to);
  if (redirect_to !== undefined && target === null) {
    return refuse(context, { code: "redirect_not_allowed" });
  }
  const dev_signin = context.get("services").identity.signInDevelopment !== null;
  return context.html(
    <SignInPage
      redirect_to={redirect_to ?? null}
      returns_to={target?.host ?? null}
      dev_signin={dev_signin}
    />,
  );
});
