/** The script's text: it runs in browsers, not here. */
declare const text: string;
export default text;
