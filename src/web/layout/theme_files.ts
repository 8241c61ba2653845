/** The static files that depend on the settings: theme and icon. */
import { favicon } from "./logo.tsx";
import { themeStyle } from "./theme.ts";
import { factory, type AppContext } from "../../http/context.ts";

/** `GET /theme.css`: the service's colour as a readable theme. */
export const readTheme = factory.createHandlers((context) => {
  const { service_accent } = context.get("services").config;
  return respondWithFile(context, service_accent, {
    content: themeStyle(service_accent),
    type: "text/css; charset=utf-8",
  });
});

/** `GET /favicon.svg`, and `/favicon.ico` for clients that request it by default. */
export const readFavicon = factory.createHandlers((context) => {
  const { service_accent } = context.get("services").config;
  return respondWithFile(context, service_accent, {
    content: favicon(service_accent),
    type: "image/svg+xml",
  });
});

/** Cached forever if the address names the current colour as its version, otherwise for five minutes. */
function respondWithFile(
  context: AppContext,
  service_accent: string,
  { content, type }: { readonly content: string; readonly type: string },
): Response {
  context.header("Content-Type", type);
  const is_current = context.req.query("v") === service_accent.slice(1);
  const cache = is_current ? "public, max-age=31536000, immutable" : "public, max-age=300";
  context.header("Cache-Control", cache);
  return context.body(content);
}
