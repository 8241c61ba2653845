/**
 * `node src/commands/run.js <command> [arguments]`: the entry of every npm script. Plain JavaScript, so
 * that a Node which cannot read the TypeScript of the commands says so in one sentence.
 */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const reads_typescript =
  major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18);

if (reads_typescript) {
  const [command = ""] = process.argv.splice(2, 1);
  try {
    await import(new URL(`${command}.ts`, import.meta.url).href);
  } catch (error) {
    // An option that there is not, or one without its value: said by the parser in a sentence.
    if (!String(error?.code).startsWith("ERR_PARSE_ARGS_")) throw error;
    console.error(`${error.message}\nThe head of src/commands/${command}.ts says what there is.`);
    process.exitCode = 2;
  }
} else {
  console.error(
    `Passbook's commands need Node 22.18 or newer, and this is ${process.versions.node}. ` +
      (process.platform === "linux" && process.arch === "x64"
        ? "`npm ci` brings a newer one along: run it again, without --omit=optional."
        : "Install a newer one from https://nodejs.org and run `npm ci` again."),
  );
  process.exitCode = 1;
}
