/**
 * The port to the archive. Files of the ledger are written once and never replaced, so a repeated write is harmless. The
 * adapter is Cloudflare R2.
 */

/** A page of a folder. */
export interface ArchivePage {
  /** Names without the folder, in their order. */
  readonly names: readonly string[];
  /** The last name of the page, to continue after it; null: there is no further page. */
  readonly next: string | null;
}

/** A file, and a tag that only this version of it has. */
export interface TaggedFile {
  readonly bytes: Uint8Array;
  readonly tag: string;
}

/**
 * Each method throws if the archive cannot be reached, and those that read throw `ARCHIVE_UNREADABLE`. A write may have
 * happened all the same.
 */
export interface ArchiveStore {
  /** Stores a file. @returns false: there is one with this key, which stays as it is. */
  create(key: string, bytes: Uint8Array): Promise<boolean>;
  /** The bytes of a file; null: there is no such file. */
  read(key: string): Promise<Uint8Array | null>;
  readTagged(key: string): Promise<TaggedFile | null>;
  /**
   * Stores a file in place of the one with this tag; null: in place of none. @returns false: there is another one, which
   * stays as it is.
   */
  replace(key: string, bytes: Uint8Array, tag: string | null): Promise<boolean>;
  /** Deletes files. One that does not exist is skipped. */
  delete(keys: readonly string[]): Promise<void>;
  /** The files of a folder after a name. `folder` ends with a slash. */
  list(folder: string, after: string | null, limit: number): Promise<ArchivePage>;
  /** Deletes a portion of a folder. @returns whether no file remains. */
  deleteSome(folder: string): Promise<boolean>;
  /** Resolves if the archive responds. */
  check(): Promise<unknown>;
}
