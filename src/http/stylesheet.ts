/** `GET /passbook.css`: the style of all pages. */
import stylesheet from "../pages/passbook.css";
import { factory } from "./context.ts";

export const readStylesheet = factory.createHandlers((context) => {
  context.header("Content-Type", "text/css; charset=utf-8");
  context.header("Cache-Control", "public, max-age=3600");
  return context.body(stylesheet);
});
