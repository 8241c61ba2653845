/** The files of the pages that follow the settings: theme and icon, for browsers to keep. */
import { favicon } from "./mark.tsx";
import { themeStyle } from "./theme.ts";
import { factory, type AppContext } from "../../http/context.ts";

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** `GET /theme.css`: the service's colour, made readable. */
export const readTheme = factory.createHandlers((context) => {
  const { service_accent } = context.get("services").config;
  return answerFile(context, themeStyle(service_accent), service_accent.slice(1));
});

/** `GET /favicon.svg`, and `/favicon.ico` for those who ask without looking. */
export const readFavicon = factory.createHandlers((context) => {
  const { service_accent } = context.get("services").config;
  return answerFile(context, favicon(service_accent), service_accent.slice(1), "svg");
});

/** An address with the content's version is kept for good; one without, or with an old one, is not. */
function answerFile(
  context: AppContext,
  content: string,
  version: string,
  kind: string = context.req.path.slice(context.req.path.lastIndexOf(".") + 1),
): Response {
  context.header("Content-Type", TYPES[kind] ?? "text/plain");
  const current = context.req.query("v") === version;
  const cache = current ? "public, max-age=31536000, immutable" : "public, max-age=300";
  context.header("Cache-Control", cache);
  return context.body(content);
}
