/** An app that the person stopped sent them here: the page says so, and offers to allow the app again. */
import * as z from "zod/mini";
import { STOP_FACTS } from "../../domain/app_stop.ts";
import { accountOf, callerOf, factory, type AppContext } from "../../http/context.ts";
import { refuseByAccept } from "../../http/refusal_page.ts";
import { appSlug, validForm } from "../../http/validation.ts";
import { t } from "../language/text.tsx";
import { AppHead, appLooks, type AppLook } from "../layout/app_icon.tsx";
import { Page } from "../layout/layout.tsx";

/** `back`: the page of ours that the person returns to after they allowed the app. */
export async function showStoppedApp(
  context: AppContext,
  { slug, back }: { readonly slug: string; readonly back: string },
): Promise<Response> {
  const look = (await appLooks(context))(slug);
  return context.html(<StoppedAppPage {...{ slug, look, back }} />);
}

function StoppedAppPage(props: {
  readonly slug: string;
  readonly look: AppLook;
  readonly back: string;
}) {
  const { slug, look, back } = props;
  const title = t("You stopped {app}", { app: look.name });
  return (
    <Page title={title}>
      <AppHead look={look} />
      <h1>{title}</h1>
      <p>
        {t("It cannot use your account.")} {t(STOP_FACTS.nothing_starts)}
      </p>
      <p class="hint">{t(STOP_FACTS.allowed_again)}</p>
      <form method="post" action="/signin/allow">
        <input type="hidden" name="app" value={slug} />
        <input type="hidden" name="back" value={back} />
        <button type="submit" class="quiet">
          {t("Allow {app} again", { app: look.name })}
        </button>
      </form>
      <a class="button" href="/account">
        {t("Keep it stopped")}
      </a>
    </Page>
  );
}

const allowForm = z.object({ app: appSlug, back: z.string("must be a string") });

/** `POST /signin/allow` (form: `app`, `back`). */
export const allowStoppedApp = factory.createHandlers(validForm(allowForm), async (context) => {
  const { app, back } = context.req.valid("form");
  const allowed = await accountOf(context).allowApp(callerOf(context), app);
  if (!allowed.ok) return refuseByAccept(context, allowed.refusal);
  const base_url = context.get("base_url");
  const is_own = URL.parse(back)?.origin === base_url;
  return context.redirect(is_own ? back : `${base_url}/account`, 303);
});
