/** The icon of an app, in front of its name: the copy that its operator registered, or a letter on its colour. */
import { appIconPath } from "../../domain/app_icon.ts";
import { t } from "../language/text.tsx";
import { nameFromSlug } from "./labels.ts";
import { textOn } from "./theme.ts";
import type { AppContext } from "../../http/context.ts";

/** How an app looks to people. */
export interface AppLook {
  readonly name: string;
  readonly icon_hash: string | null;
  /** `#rrggbb`; null: the page's own colours. */
  readonly color: string | null;
  /** What its operator says while it is paused; null: it is not paused. */
  readonly pause_message: string | null;
}

export type AppLooks = (slug: string | null) => AppLook;

/**
 * Returns a function from a slug to the app's look. If the registry cannot be read, the page still works: the name is
 * then made from the slug.
 */
export async function appLooks(context: AppContext): Promise<AppLooks> {
  const registered = await context
    .get("services")
    .apps.all()
    .catch(() => new Map<string, AppLook>());
  return (slug) => {
    const known = slug === null ? undefined : registered.get(slug);
    const name = slug === null ? t("No app") : nameFromSlug(slug);
    return known ?? { name, icon_hash: null, color: null, pause_message: null };
  };
}

/** The app that a page of its own is about, above the title: its colour as a band, and its icon. */
export function AppHead({ look }: { look: AppLook }) {
  return (
    <div class="app-head">
      {look.color === null ? null : (
        <svg class="app-band" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
          <rect width="1" height="1" fill={look.color} />
        </svg>
      )}
      <AppIcon look={look} size={48} />
    </div>
  );
}

/** `size` in CSS pixels. It has no text for screen readers, because the app's name is next to it. */
export function AppIcon({ look, size = 24 }: { look: AppLook; size?: number }) {
  const { name, icon_hash, color } = look;
  const [width, height] = [size, size];
  if (icon_hash !== null) {
    const src = appIconPath(icon_hash);
    return <img class="app-icon" src={src} alt="" {...{ width, height }} loading="lazy" />;
  }
  // Attributes instead of a style, which the page's policy does not allow.
  const [fill, letter] = color === null ? [] : [{ fill: color }, { fill: textOn(color) }];
  return (
    <svg class="app-icon" viewBox="0 0 24 24" {...{ width, height }} aria-hidden="true">
      <rect width="24" height="24" {...fill} />
      <text x="12" y="16.5" font-size="13" {...letter}>
        {String.fromCodePoint(name.toUpperCase().codePointAt(0) ?? 0x20)}
      </text>
    </svg>
  );
}
