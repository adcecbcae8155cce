// Elements that scripts of pages make.

const SVG = "http://www.w3.org/2000/svg";

/** An element of HTML with these properties and children. */
export const made = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

/** A shape of SVG with these attributes. */
export const drawn = (name, attributes) => {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
};
