/** `GET /console/help`: the manual of this release, to which warnings link. */
import { raw } from "hono/html";
import { factory } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { ConsolePage } from "./console_page.tsx";

export const showHelp = factory.createHandlers(async (context) => {
  const name = context.req.param("page") ?? "index";
  const page = await context.get("services").readManual(name);
  if (page === null) return refuseWithPage(context, { code: "not_found" });
  return context.html(
    <ConsolePage
      title={page.title}
      section="console"
      aside={name === "index" ? undefined : <a href="/console/help">All pages</a>}
    >
      <section class="panel manual">{raw(page.html)}</section>
    </ConsolePage>,
  );
});
