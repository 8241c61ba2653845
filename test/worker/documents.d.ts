/** A page of docs/, as text. */
declare module "*.md?raw" {
  const text: string;
  export default text;
}
