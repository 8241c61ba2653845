/**
 * `node src/commands/run.js <command> [arguments]`: the entry of npm scripts. It is plain JavaScript, so that a Node
 * without support for TypeScript gets a clear message.
 */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const reads_typescript =
  major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18);

if (reads_typescript) {
  const [command = ""] = process.argv.splice(2, 1);
  try {
    await import(new URL(`${command}.ts`, import.meta.url).href);
  } catch (error) {
    // An unknown option, or one without its value: the message of the parser is clear.
    if (!String(error?.code).startsWith("ERR_PARSE_ARGS_")) throw error;
    console.error(
      `${error.message}\nThe comment at the top of src/commands/${command}.ts lists the options.`,
    );
    process.exitCode = 2;
  }
} else {
  console.error(
    `Passbook's commands need Node 22.18 or newer, but this is ${process.versions.node}. ` +
      (process.platform === "linux" && process.arch === "x64"
        ? "`npm ci` installs a newer one: run it again without --omit=optional."
        : "Install a newer one from https://nodejs.org and run `npm ci` again."),
  );
  process.exitCode = 1;
}
