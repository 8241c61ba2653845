/** `GET /app-icons/{hash}`: the copy of an app's icon, from our own origin. */
import { factory } from "../../http/context.ts";
import { refuse } from "../../http/refusals.ts";

export const readAppIcon = factory.createHandlers(async (context) => {
  const { apps, app_icons } = context.get("services");
  const hash = context.req.param("hash") ?? "";
  // Only an app's icon is read, so that invented addresses reach no store.
  const registered = [...(await apps.all()).values()];
  const icon = registered.some(({ icon_hash }) => icon_hash === hash)
    ? await app_icons.read(hash)
    : null;
  if (icon === null) {
    // An icon that was just saved is known everywhere within a minute.
    context.header("Cache-Control", "no-store");
    return refuse(context, { code: "not_found" });
  }
  // The type was decided when the copy was made, and `nosniff` makes browsers keep to it.
  context.header("Content-Type", icon.media_type);
  context.header("Cache-Control", "public, max-age=31536000, immutable");
  return context.body(icon.bytes);
});
