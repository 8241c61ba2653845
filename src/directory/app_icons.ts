/** The copies of the apps' icons, which never change: D1's `app_icons`, kept in memory once they were read. */
import { APP_ICON_TYPES, type AppIconType } from "../domain/app_icon.ts";

/** Icons that an isolate keeps: at most 4 MiB. */
const APP_ICONS_KEPT = 64;

export interface AppIcon {
  readonly media_type: AppIconType;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export function createAppIcons(binding: D1Database) {
  const kept = new Map<string, AppIcon>();
  return {
    /** The icon with this hash, or null. Throws if D1 cannot be reached. */
    async read(hash: string): Promise<AppIcon | null> {
      const known = kept.get(hash);
      if (known !== undefined) return known;
      const row = await binding
        .prepare("select media_type, bytes from app_icons where hash = ?1")
        .bind(hash)
        .first<{ media_type: string; bytes: readonly number[] }>();
      const media_type = APP_ICON_TYPES.find((type) => type === row?.media_type);
      if (row === null || media_type === undefined) return null;
      const icon = { media_type, bytes: new Uint8Array(row.bytes) };
      if (kept.size >= APP_ICONS_KEPT) kept.clear();
      kept.set(hash, icon);
      return icon;
    },
  };
}

export type AppIcons = ReturnType<typeof createAppIcons>;
