"""Writes a scene of balls for a ray tracer: make_scene.py tachyon|povray."""

import random
import sys

random.seed(3)
balls = [(random.uniform(-6, 6), random.uniform(-4, 4), random.uniform(4, 16), random.uniform(0.2, 1),
          [random.random() for _ in range(3)]) for _ in range(400)]
if sys.argv[1] == "tachyon":
    print("BEGIN_SCENE\nRESOLUTION 500 400\nCAMERA\nZOOM 1.0\nASPECTRATIO 1.0\nANTIALIASING 1\nRAYDEPTH 6\n"
          "CENTER 0 0 -6\nVIEWDIR 0 0 1\nUPDIR 0 1 0\nEND_CAMERA\n"
          "LIGHT CENTER 10 10 -10 RAD 0.2 COLOR 1 1 1\nLIGHT CENTER -9 6 -8 RAD 0.2 COLOR 0.5 0.5 0.5")
    for x, y, z, radius, color in balls:
        print(f"SPHERE CENTER {x:.3f} {y:.3f} {z:.3f} RAD {radius:.3f} TEXTURE AMBIENT 0.1 DIFFUSE 0.6 SPECULAR 0.3 OPACITY 1 "
              f"COLOR {' '.join(f'{part:.3f}' for part in color)} TEXFUNC 0")
    print("END_SCENE")
else:
    print("#version 3.7;\nglobal_settings { assumed_gamma 1 max_trace_level 6 }\n"
          "camera { location <0, 0, -6> look_at <0, 0, 4> }\n"
          "light_source { <10, 10, -10> color rgb 1 }\nlight_source { <-9, 6, -8> color rgb 0.5 }")
    for x, y, z, radius, color in balls:
        print(f"sphere {{ <{x:.3f}, {y:.3f}, {z:.3f}>, {radius:.3f} pigment {{ color rgb <{', '.join(f'{part:.3f}' for part in color)}> }} "
              "finish { ambient 0.1 diffuse 0.6 reflection 0.3 } }")
