/** A response that is saved as a file. */
import type { AppContext } from "./context.ts";

interface CsvDownload {
  readonly name: string;
  readonly body: string | ReadableStream<Uint8Array>;
}

export function sendCsv(context: AppContext, { name, body }: CsvDownload): Response {
  return context.body(body, 200, {
    "Content-Type": "text/csv; charset=utf-8",
    "Content-Disposition": `attachment; filename="${name}"`,
  });
}
